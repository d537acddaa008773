// Stored networks of other programs that call standard layers.
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "pdl/compiler/emit.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/op_registry.h"
#include "proto/pdl.pb.h"

namespace pdl {
namespace {

InputFile Stored(const NetworkDesc& desc) {
  InputFile file;
  file.bytes = llvm::MemoryBuffer::getMemBufferCopy(desc.SerializeAsString(), "net.pdlc");
  file.name = "net.pdlc";
  file.folder = ".";
  file.is_compiled = true;
  return file;
}

NetworkDesc Parse(const std::string& text) {
  NetworkDesc desc;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &desc));
  desc.set_format_version(2);
  desc.set_incomplete(true);
  desc.set_whole(true);
  return desc;
}

/// The flat source of the network that is loaded, or the error.
std::string Loaded(const NetworkDesc& desc, bool training_step = false) {
  LoadOptions options;
  options.training_step = training_step;
  llvm::Expected<LoadedNetwork> network = LoadNetwork(Stored(desc), options);
  if (!network) return llvm::toString(network.takeError());
  return EmitPdl(network->graph);
}

std::string SourceOf(const NetworkDesc& desc) {
  llvm::Expected<std::string> source =
      SourceOfIncomplete(desc.SerializeAsString(), "net.pdlc", GlobalRegistry());
  return source ? *source : llvm::toString(source.takeError());
}

const char kPerceptron[] = R"pb(
  variables {
    name: "x"
    role: INPUT
    type {
      dtype: F32
      dims { symbol: "N" }
      dims { constant: 3 }
    }
  }
  blocks {
    ops {
      type: "fc"
      inputs: "x"
      outputs: "hidden"
      attributes {
        key: "size"
        value { int: 4 }
      }
      attributes {
        key: "act"
        value { source: "relu()" }
      }
      attributes {
        key: "param_attr"
        value { source: "{weight_decay=0.5}" }
      }
    }
    ops {
      type: "cos"
      inputs: "hidden"
      outputs: "y"
      attributes {
        key: "scale"
        value { float: 2 }
      }
    }
  }
  outputs { name: "y" variable: "y" }
)pb";

TEST(StoredLayers, BecomeCallsOfOperators) {
  const NetworkDesc desc = Parse(kPerceptron);
  EXPECT_EQ(SourceOf(desc),
            "input x: f32[N, 3]\n"
            "hidden = fc(x, act=relu(), param_attr={weight_decay=0.5}, size=4)\n"
            "y = cos(hidden, scale=2.0)\n"
            "output y\n");
  const std::string source = Loaded(desc);
  for (const char* line :
       {"param hidden.w: f32[3, 4] = ", " with {weight_decay=0.5}\n",
        "param hidden.b: f32[4] = zeros()\n", "y = cos(hidden.relu, scale=2.0)\n", "output y\n"})
    EXPECT_NE(source.find(line), std::string::npos) << line << source;
}

const char kEverything[] = R"pb(
  variables {
    name: "x"
    role: INPUT
    comment: "Rows.\nAnd more."
    type {
      dtype: F32
      dims { symbol: "N" }
      dims { constant: 3 }
    }
  }
  variables {
    name: "z"
    role: INPUT
    type {
      dtype: F32
      dims { symbol: "M" }
      dims { symbol: "T" }
      dims { constant: 2 }
    }
  }
  variables {
    name: "lengths"
    role: INPUT
    type {
      dtype: I64
      dims { symbol: "M" }
    }
  }
  variables {
    name: "p"
    role: PARAMETER
    type {
      dtype: F32
      dims { constant: 3 }
    }
    initializer: 2
    l1: 0.25
    lr_scale: 0.5
    frozen: true
  }
  variables {
    name: "s"
    role: STATE
    type {
      dtype: F32
      dims { constant: 3 }
    }
    initializer: 2
  }
  variables {
    name: "c"
    role: STATE
    type {
      dtype: F32
      dims { constant: 3 }
    }
    copy_of: "p"
  }
  variables {
    name: "h"
    comment: "The result."
    type {
      dtype: F32
      dims { symbol: "N" }
      dims { constant: 2 }
    }
  }
  constraints {
    left { symbol: "N" }
    relation: AT_LEAST
    right { constant: 2 }
    message: "two \"rows\""
  }
  blocks {
    ops {
      type: "fc"
      inputs: "x"
      outputs: "h"
      attributes {
        key: "size"
        value { int: 2 }
      }
    }
    ops {
      type: "zeros"
      outputs: "zero"
      attributes {
        key: "dims"
        value { shape { dims { constant: 2 } } }
      }
    }
    ops {
      type: "scan"
      inputs: "h"
      inputs: "zero"
      outputs: "total"
      attributes {
        key: "num_xs"
        value { int: 1 }
      }
      attributes {
        key: "num_init"
        value { int: 1 }
      }
      attributes {
        key: "axis"
        value { int: 0 }
      }
      attributes {
        key: "body"
        value { source: "add()" }
      }
    }
    ops {
      type: "lstm"
      inputs: "z"
      inputs: ""
      inputs: ""
      inputs: "lengths"
      outputs: "steps"
      outputs: "last"
      attributes {
        key: "size"
        value { int: 2 }
      }
    }
    ops { type: "mean" inputs: "total" outputs: "loss" }
    ops { type: "add" inputs: "s" inputs: "p" outputs: "next" }
  }
  blocks {
    ops {
      type: "ones"
      outputs: "first"
      attributes {
        key: "dims"
        value { shape { dims { constant: 3 } } }
      }
    }
    outputs: "first"
  }
  outputs { name: "last" variable: "last" }
  outputs { name: "out" variable: "loss" comment: "What is minimized." }
  updates { state: "s" value: "next" }
  training { loss: "loss" parameters: "h.w" optimizer: "sgd(lr=0.5)" every: 2 }
)pb";

TEST(StoredLayers, EverythingElseOfTheNetworkIsKept) {
  const NetworkDesc desc = Parse(kEverything);
  EXPECT_EQ(SourceOf(desc), R"(## Rows.
## And more.
input x: f32[N, 3]
input z: f32[M, T, 2]
input lengths: i64[M]
param p: f32[3] = ones() with {l1=0.25, lr_scale=0.5, trainable=false}
state s: f32[3] = ones()
state c: f32[3] = copy(p)
## The result.
h: f32[N, 2] = fc(x, size=2)
zero = zeros(dims=[2])
total = scan(h, init=[zero], axis=0, body=add())
steps, last = lstm(z, none, none, lengths, size=2)
loss = mean(total)
next = add(s, p)
assert N >= 2, "two \"rows\""
output last
## What is minimized.
output out = loss
update s = next
minimize loss over [h.w] with sgd(lr=0.5) every 2
)");
  EXPECT_EQ(Loaded(desc, /*training_step=*/true).find("error"), std::string::npos) << Loaded(desc);
  // The loaded network is complete.
  llvm::Expected<LoadedNetwork> network = LoadNetwork(Stored(desc), {});
  ASSERT_TRUE(static_cast<bool>(network)) << llvm::toString(network.takeError());
  llvm::Expected<std::string> bytes = SerializeNetwork(network->graph);
  ASSERT_TRUE(static_cast<bool>(bytes)) << llvm::toString(bytes.takeError());
  llvm::Expected<Graph> again = DeserializeNetwork(*bytes, "again.pdlc", GlobalRegistry());
  ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
  EXPECT_EQ(EmitPdl(*again), EmitPdl(network->graph));
}

TEST(StoredLayers, CompleteNetworksHaveNoSource) {
  NetworkDesc desc = Parse(kPerceptron);
  desc.mutable_blocks(0)->mutable_ops()->DeleteSubrange(0, 1);
  desc.mutable_blocks(0)->mutable_ops(0)->set_inputs(0, "x");
  EXPECT_EQ(SourceOf(desc), "");
  desc = Parse(kPerceptron);
  desc.set_incomplete(false);
  EXPECT_EQ(SourceOf(desc), "");
  EXPECT_EQ(Loaded(desc), "net.pdlc: variable 'x': no input introduces the symbol 'N' [PDL0402]");
}

TEST(StoredLayers, Errors) {
  const auto error_of = [](auto damage) {
    NetworkDesc desc = Parse(kPerceptron);
    damage(desc, *desc.mutable_blocks(0)->mutable_ops(0));
    return Loaded(desc);
  };
  // Those of the calls are reported in the source of the network.
  EXPECT_EQ(error_of([](NetworkDesc&, OpDesc& fc) { fc.set_type("fcc"); }),
            "net.pdlc:2:10: error: no operator or layer is called 'fcc'; did you mean 'fc'? "
            "[PDL0101]\n"
            " 2 | hidden = fcc(x, act=relu(), param_attr={weight_decay=0.5}, size=4)\n"
            "   |          ^~~\n");
  EXPECT_EQ(error_of([](NetworkDesc&, OpDesc& fc) { fc.set_inputs(0, "x)\noutput x, (x"); }),
            "net.pdlc: 'x)\noutput x, (x' is not a name of a variable [PDL0402]");
  EXPECT_EQ(error_of([](NetworkDesc&, OpDesc& fc) { fc.set_type("f c"); }),
            "net.pdlc: 'f c' is not a name of an operator or layer [PDL0402]");
  EXPECT_EQ(error_of([](NetworkDesc&, OpDesc& fc) {
              (*fc.mutable_attributes())["act"].set_source("relu()\noutput x");
            }),
            "net.pdlc: call of 'fc': attribute 'act': not an expression in one line [PDL0402]");
  EXPECT_EQ(error_of([](NetworkDesc& d, OpDesc& fc) {
              d.add_blocks();
              (*fc.mutable_attributes())["act"].set_block(1);
            }),
            "net.pdlc: call of 'fc': attribute 'act': a block; in a network that calls layers, the "
            "body of a loop is the source of a call [PDL0402]");
  EXPECT_EQ(error_of([](NetworkDesc&, OpDesc& fc) { fc.clear_outputs(); }),
            "net.pdlc: a call of 'fc' has no results [PDL0402]");
  EXPECT_EQ(error_of([](NetworkDesc& d, OpDesc&) {
              VarDesc& w = *d.add_variables();
              w.set_name("w");
              w.set_role(VarDesc::PARAMETER);
              w.mutable_type()->set_dtype(F32);
            }),
            "net.pdlc: variable 'w': in a network that calls layers, one call of an operator "
            "computes the initial value [PDL0402]");
  EXPECT_EQ(error_of([](NetworkDesc& d, OpDesc&) {
              TrainingDesc& training = *d.add_training();
              training.set_loss("y");
              training.set_optimizer("sgd()\n");
            }),
            "net.pdlc: the optimizer of 'y' is not an expression in one line [PDL0402]");
}

}  // namespace
}  // namespace pdl
