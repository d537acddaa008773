// The analyses of open documents.
#include "tools/pdl/lsp/checker.h"

#include <gtest/gtest.h>

#include <thread>

namespace pdl::lsp {
namespace {

constexpr std::chrono::milliseconds kAtOnce(0);

DocumentPtr Make(const std::string& uri, int64_t version, const std::string& contents) {
  return std::make_shared<const Document>(uri, version, contents, Encoding::kUtf8);
}

TEST(DocumentStore, CancelsOutdatedWork) {
  DocumentStore documents;
  documents.Set(Make("untitled:a", 1, "x = 1\n"));
  const DocumentStore::Work first = *documents.WaitForWork(kAtOnce);
  EXPECT_FALSE(*first.cancel);
  documents.Set(Make("untitled:b", 1, "y = 1\n"));
  EXPECT_FALSE(*first.cancel) << "an edit of another document";
  documents.Set(Make("untitled:a", 2, "x = 2\n"));
  EXPECT_TRUE(*first.cancel);
  const DocumentStore::Work second = *documents.WaitForWork(kAtOnce);
  const DocumentStore::Work third = *documents.WaitForWork(kAtOnce);
  EXPECT_EQ(second.document->version, 2);
  EXPECT_FALSE(*second.cancel);
  EXPECT_TRUE(documents.Close("untitled:a"));
  EXPECT_TRUE(*second.cancel);
  EXPECT_FALSE(*third.cancel);
  documents.Stop();
  EXPECT_TRUE(*third.cancel);
}

TEST(DocumentStore, CancelsWorkThatReadAFile) {
  DocumentStore documents;
  documents.Set(Make("file:///a.pdl", 1, "import \"b.pdl\"\n"));
  const DocumentStore::Work first = *documents.WaitForWork(kAtOnce);
  Checked checked;
  checked.document = first.document;
  checked.reads.insert("/b.pdl");
  documents.SetChecked("file:///a.pdl", std::make_shared<const Checked>(std::move(checked)));
  documents.FileChanged("/c.pdl");
  EXPECT_FALSE(*first.cancel);
  documents.FileChanged("/b.pdl");
  EXPECT_TRUE(*first.cancel);
}

TEST(Checker, NewerEditEndsAnAnalysis) {
  DocumentStore documents;
  EventQueue events;
  Checker checker(documents, events, {});
  std::thread thread([&] { checker.Run(); });
  const std::string uri = "untitled:a";
  // Its analysis takes longer than the wait, after which it has begun.
  documents.Set(Make(uri, 1, "y = ones([2])\nfor i in 0..400000 { y = y * 2.0 }\noutput y\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  documents.Set(Make(uri, 2, "output y = onez([2])\n"));
  EXPECT_EQ(events.Pop().kind, Event::Kind::kChecked);
  const CheckedPtr checked = documents.LastChecked(uri, false, kAtOnce);
  documents.Stop();
  thread.join();
  ASSERT_NE(checked, nullptr);
  EXPECT_EQ(checked->document->version, 2) << "the first event is about the last contents";
  ASSERT_EQ(checked->diagnostics.size(), 1u);
  EXPECT_EQ(checked->diagnostics[0].code, Code::kUnknownOperator);
}

}  // namespace
}  // namespace pdl::lsp
