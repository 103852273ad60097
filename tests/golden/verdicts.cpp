// Prints what C++ makes of each vector of the files named: `name TAB verdict`, in their order.

#include "tests/golden/verdict.hpp"

#include <fstream>
#include <iostream>
#include <string>

int main(int count, char** arguments) {
  for (int at = 1; at < count; ++at) {
    std::ifstream file(arguments[at]);
    if (!file) {
      std::cerr << arguments[at] << ": cannot be read\n";
      return 2;
    }
    for (std::string line; std::getline(file, line);) {
      const auto verdict = runwire::golden::judge(line);
      std::cout << verdict.name << '\t' << verdict.given << '\n';
    }
  }
  return std::cout.flush() ? 0 : 2;
}
