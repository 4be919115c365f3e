// Errors say which part and function they come from, and what went wrong.
#include "mindtorch/base/error.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <stdexcept>
#include <string>

#include "mindtorch/base/error_text.h"

namespace mindtorch {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

template <class E, class Call>
std::string text_of(Call call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing of that type was thrown";
}

TEST(Error, TheTextNamesPartAndFunctionAndWhatWasGiven) {
  const auto misuse = [] { throw_error<InvalidArgument>("profiler.schedule", "active must be > 0, got {}", -3); };
  EXPECT_EQ(text_of<InvalidArgument>(misuse), "[profiler.schedule] active must be > 0, got -3");
}

TEST(Error, EveryKindCanBeCaughtAsTheLibraryErrorAndAsARuntimeError) {
  EXPECT_THROW(throw_error<InvalidArgument>("a.b", "x"), Error);
  EXPECT_THROW(throw_error<OutOfRange>("a.b", "x"), Error);
  EXPECT_THROW(throw_error<TypeMismatch>("a.b", "x"), Error);
  EXPECT_THROW(throw_error<NoSuchAttribute>("a.b", "x"), Error);
  EXPECT_THROW(throw_error<AssertionFailed>("a.b", "x"), Error);
  EXPECT_THROW(throw_io_error("a.b", "read", "p", EIO), Error);
  EXPECT_THROW(throw_error("a.b", "x"), std::runtime_error);
}

TEST(Error, TextOfArgumentsIsNotTakenForAFormat) {
  EXPECT_EQ(text_of<Error>([] { throw_error("a.b", "name {}", "{}{0}"); }), "[a.b] name {}{0}");
}

TEST(Error, AnIoErrorHoldsActionPathCauseAndCode) {
  try {
    throw_io_error("file.write", "write", "/some/path", ENOSPC);
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), StartsWith("[file.write] cannot write '/some/path': "));
    EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
    EXPECT_EQ(error.code(), ENOSPC);
    EXPECT_EQ(error.path(), "/some/path");
    return;
  }
  FAIL() << "no IoError";
}

TEST(ErrorText, UsersDoNotReadWhereAnErrorComesFrom) {
  const auto text = [](const char* what) { return std::string(text_for_users(std::runtime_error(what))); };
  EXPECT_EQ(text("[record.prepare] a session is recording"), "a session is recording");
  EXPECT_EQ(text("[1, 2] is not a size"), "[1, 2] is not a size");
  EXPECT_EQ(text("[a.b]"), "[a.b]");
  EXPECT_EQ(text(""), "");
}

TEST(Status, OkHasNoReason) {
  const Status status = Status::ok();
  EXPECT_TRUE(status.is_ok());
  EXPECT_TRUE(static_cast<bool>(status));
  EXPECT_EQ(status.reason(), "");
}

TEST(Status, UnavailableKeepsItsReason) {
  const Status status = Status::unavailable("no driver");
  EXPECT_FALSE(status.is_ok());
  EXPECT_FALSE(static_cast<bool>(status));
  EXPECT_EQ(status.reason(), "no driver");
}

TEST(Status, UnavailableWithoutAReasonIsStillNotOk) { EXPECT_FALSE(Status::unavailable("").is_ok()); }

}  // namespace
}  // namespace mindtorch
