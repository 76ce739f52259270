// The pictures in docs/pictures: the example a + a ** 10 before and after rewriting, and its structure. Each SVG
// contains the text that it was drawn from; --check compares this text, since Graphviz's layout depends on its version
// and on the fonts of the machine.
//
//   pictures_doc CHECKOUT --write    draws them (needs Graphviz)
//   pictures_doc CHECKOUT --check    tells whether they are up to date
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "bitale/bitale.hpp"

using namespace bitale;

namespace {

struct Picture {
  std::string name, text;
};

std::vector<Picture> pictures() {
  const Variable a = dvector("a");
  const Variable b = a + pow(a, 10);
  const Function f = function({a}, b, {.mode = get_mode("FAST_RUN")});
  PictureOptions simple, structure;
  simple.var_with_name_simple = true;
  structure.structure = true;
  return {{"symbolic_graph_unopt", dot_text(Variables{b}, simple)},
          {"symbolic_graph_opt", dot_text(f.graph().outputs(), simple)},
          {"apply", dot_text(Variables{dmatrix("x") + dmatrix("y")}, structure)}};
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The text as a comment; the text of a graph contains no "--".
std::string source_comment(const Picture& picture) { return "<!-- drawn from\n" + picture.text + "-->\n"; }

std::string drawn(const Picture& picture) {
  std::string svg = draw(picture.text, "svg");
  return svg.insert(svg.find("<svg"), source_comment(picture));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: pictures_doc CHECKOUT --write|--check\n"), 2;
  const std::string folder = std::string(argv[1]) + "/docs/pictures/";
  int stale = 0;
  for (const Picture& picture : pictures()) {
    const std::string path = folder + picture.name + ".svg";
    if (std::string(argv[2]) == "--write") {
      std::ofstream(path) << drawn(picture);
    } else if (read(path).find(source_comment(picture)) == std::string::npos) {
      std::fprintf(stderr, "%s is not up to date; run: pictures_doc . --write\n", path.c_str());
      ++stale;
    }
  }
  return stale ? 1 : 0;
}
