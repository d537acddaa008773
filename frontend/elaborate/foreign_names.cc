#include "frontend/elaborate/foreign_names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

namespace pdl {

namespace {

// Of several rows with one name, the first whose counterpart exists in the context applies. Names
// that only differ in case, underscores or a letter or two are found without a row.
constexpr ForeignName kForeignNames[] = {
    // Layers.
    {"linear", "fc"},
    {"dense", "fc"},
    {"fully_connected", "fc"},
    {"inner_product", "fc"},
    {"conv1d_transpose", "conv_up"},
    {"conv2d_transpose", "conv_up"},
    {"conv2dtranspose", "conv_up"},
    {"convtranspose2d", "conv_up"},
    {"convtranspose", "conv_up"},
    {"deconv", "conv_up"},
    {"convolution", "conv"},
    {"batchnormalization", "batch_norm"},
    {"layernormalization", "layer_norm"},
    {"groupnormalization", "group_norm"},
    {"multiheadattention", "multi_head_attention"},
    {"mha", "multi_head_attention"},
    {"scaled_dot_product_attention", "attention"},
    {"globalaveragepool", "global_avg_pool"},
    {"globalaveragepooling2d", "global_avg_pool"},
    {"maxpooling2d", "max_pool"},
    {"averagepooling2d", "avg_pool"},
    {"sequential", "mlp"},
    // Operators on dims and elements.
    {"view", "reshape"},
    {"permute", "transpose"},
    {"swapaxes", "transpose"},
    {"expand", "broadcast_to"},
    {"expand_dims", "unsqueeze"},
    {"expand_as", "broadcast_to"},
    {"cat", "concat"},
    {"concatenate", "concat"},
    {"hstack", "concat"},
    {"vstack", "concat"},
    {"chunk", "split"},
    {"repeat", "tile"},
    {"ravel", "flatten"},
    {"arange", "range"},
    {"full", "fill"},
    {"constant_of_shape", "fill"},
    {"take", "gather"},
    {"index_select", "gather"},
    {"take_along_dim", "take_along_axis"},
    {"index_add", "scatter_add"},
    {"reverse", "flip"},
    {"astype", "cast"},
    {"to", "cast"},
    {"clamp", "clip"},
    {"detach", "stop_gradient"},
    {"choose", "where"},
    {"shape", "dims"},
    // Arithmetic.
    {"subtract", "sub"},
    {"multiply", "mul"},
    {"divide", "div"},
    {"negative", "neg"},
    {"power", "pow"},
    {"remainder", "mod"},
    {"absolute", "abs"},
    {"mm", "matmul"},
    {"bmm", "matmul"},
    {"dot", "matmul"},
    {"amax", "max"},
    {"amin", "min"},
    {"var", "variance"},
    {"reducesum", "sum"},
    {"reducemean", "mean"},
    {"reduce_sum", "sum"},
    {"reduce_mean", "mean"},
    {"reduce_max", "max"},
    {"average", "mean"},
    {"swish", "silu"},
    {"hardtanh", "clip"},
    {"logistic", "sigmoid"},
    // Losses, random numbers, initializers.
    {"crossentropyloss", "cross_entropy"},
    {"softmax_cross_entropy", "cross_entropy"},
    {"sparse_categorical_crossentropy", "cross_entropy"},
    {"bce", "binary_cross_entropy"},
    {"bceloss", "binary_cross_entropy"},
    {"bcewithlogitsloss", "binary_cross_entropy"},
    {"nll_loss", "nll"},
    {"mse_loss", "mse"},
    {"mseloss", "mse"},
    {"smooth_l1_loss", "huber"},
    {"randn", "normal"},
    {"random_normal", "normal"},
    {"rand", "uniform"},
    {"random_uniform", "uniform"},
    {"glorot_uniform", "xavier_uniform"},
    {"glorot_normal", "xavier_normal"},
    {"kaiming_normal", "he_normal"},
    {"kaiming_uniform", "he_uniform"},
    {"stepdecay", "step_decay"},
    {"cosineannealinglr", "cosine"},
    // Arguments.
    {"learning_rate", "lr"},
    {"rate", "lr"},
    {"rate", "p"},
    {"rate", "dropout_rate"},
    {"dropout", "dropout_rate"},
    {"dropout", "p"},
    {"dropout_rate", "p"},
    {"prob", "p"},
    {"p", "dropout_rate"},
    {"padding", "pad"},
    {"pads", "pad"},
    {"same", "pad", "pad=\"same\""},
    {"kernel_size", "kernel"},
    {"kernel_shape", "kernel"},
    {"filter_size", "kernel"},
    {"pool_size", "kernel"},
    {"window", "kernel"},
    {"strides", "stride"},
    {"dilations", "dilation"},
    {"dilation_rate", "dilation"},
    {"group", "groups"},
    {"filters", "channels"},
    {"out_channels", "channels"},
    {"size", "channels"},
    {"units", "size"},
    {"out_features", "size"},
    {"hidden_size", "size"},
    {"embedding_dim", "size"},
    {"hidden_size", "hidden"},
    {"width", "size"},
    {"activation", "act"},
    {"use_bias", "bias"},
    {"with_bias", "bias"},
    {"bias_initializer", "bias_attr", "bias_attr={init=...}"},
    {"kernel_initializer", "param_attr", "param_attr={init=...}"},
    {"num_heads", "heads"},
    {"nhead", "heads"},
    {"num_layers", "layers"},
    {"is_causal", "causal"},
    {"attn_mask", "mask"},
    {"epsilon", "eps"},
    {"num_groups", "groups"},
    {"dim", "axis"},
    {"dim", "axes"},
    {"axis", "axes"},
    {"axes", "axis"},
    {"keepdim", "keep"},
    {"keepdims", "keep"},
    {"shape", "dims"},
    {"size", "dims"},
    {"dtype", "to"},
    {"permutation", "perm"},
    {"stddev", "std"},
    {"sigma", "std"},
    {"loc", "mean"},
    {"minval", "low"},
    {"maxval", "high"},
    {"min", "low"},
    {"max", "high"},
    {"a_min", "low"},
    {"a_max", "high"},
    {"fill_value", "value"},
    {"constant_value", "value"},
    {"num_classes", "depth"},
    {"unbiased", "ddof", "ddof=1"},
    {"correction", "ddof"},
    {"betas", "beta1", "beta1=0.9, beta2=0.999"},
    {"beta_1", "beta1"},
    {"beta_2", "beta2"},
    {"weight_decay", "decay"},
    {"clipnorm", "clip_norm"},
    {"max_norm", "clip_norm"},
    {"initializer", "init"},
    // Parameters and results.
    {"weight", "w"},
    {"kernel", "w"},
    {"weight", "gamma"},
    {"weight", "table"},
    {"bias", "b"},
    {"bias", "beta"},
    {"running_mean", "mean"},
    {"running_var", "var"},
    {"indices", "index"},
    {"values", "y"},
};

}  // namespace

const ForeignName* FindForeignName(llvm::StringRef name,
                                   llvm::ArrayRef<llvm::StringRef> candidates) {
  for (const ForeignName& foreign : kForeignNames) {
    if (foreign.name.equals_insensitive(name) && llvm::is_contained(candidates, foreign.here))
      return &foreign;
  }
  return nullptr;
}

std::string WithoutMember(llvm::StringRef tensor, llvm::StringRef name) {
  const llvm::StringRef form = llvm::StringSwitch<llvm::StringRef>(name)
                                   .Cases("shape", "size", "dims(*)")
                                   .Cases("T", "mT", "t", "transpose(*)")
                                   .Cases("ndim", "dim", "rank", "len(dims(*))")
                                   .Case("numel", "size(dims(*))")
                                   .Case("dtype", "dtype(*)")
                                   .Cases("type", "to", "astype", "cast(*, to=f32)")
                                   .Case("float", "cast(*, to=f32)")
                                   .Case("double", "cast(*, to=f64)")
                                   .Case("half", "cast(*, to=f16)")
                                   .Cases("int", "long", "cast(*, to=i64)")
                                   .Case("bool", "cast(*, to=bool)")
                                   .Case("view", "reshape(*, [...])")
                                   .Case("reshape", "reshape(*, [...])")
                                   .Case("permute", "transpose(*, [...])")
                                   .Case("grad", "grad(loss, *)")
                                   .Default("");
  const auto [before, after] = form.split('*');
  return form.empty() ? "" : (llvm::Twine(before) + tensor + after).str();
}

}  // namespace pdl
