// Well-formed and ill-formed sequences: the table of RFC 3629.
#include "graph/utf8.h"

#include <doctest/doctest.h>

#include <string>

using namespace runnel;

TEST_CASE("characters of one to four bytes are UTF-8, wherever they stand") {
  for (const char* character : {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x9a\x80", "\xf4\x8f\xbf\xbf"})
    for (int before = 0; before < 20; ++before) {
      CAPTURE(before);
      CHECK(is_utf8(std::string(before, 'x') + character + "tail"));
    }
  CHECK(is_utf8(""));
  CHECK(is_utf8(std::string("a\0b", 3)));
}

TEST_CASE("overlong, cut-off, surrogate and too large sequences are not UTF-8") {
  for (const char* wrong : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82",
                            "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
    for (int before = 0; before < 20; ++before) {
      CAPTURE(before);
      CHECK_FALSE(is_utf8(std::string(before, 'x') + wrong));
      CHECK_FALSE(is_utf8(std::string(before, 'x') + wrong + "xxxxxxxxxx"));
    }
}
