// A CSV file of numbers with one header line, as columns.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;

  std::size_t rows() const { return columns.empty() ? 0 : columns[0].size(); }
  const std::vector<double>& operator[](const std::string& name) const {
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw std::runtime_error("the table has no column '" + name + "'");
    return columns[std::size_t(found - names.begin())];
  }
};

inline Table read_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("can't read " + path);
  Table table;
  std::string line, cell;
  std::getline(file, line);
  for (std::istringstream header(line); std::getline(header, cell, ',');) table.names.push_back(cell);
  table.columns.resize(table.names.size());
  while (std::getline(file, line)) {
    std::size_t column = 0;
    for (std::istringstream cells(line); std::getline(cells, cell, ','); ++column)
      if (column < table.columns.size()) table.columns[column].push_back(std::strtod(cell.c_str(), nullptr));
    if (column != table.columns.size())
      throw std::runtime_error(path + ": line " + std::to_string(table.rows() + 1) + " has " + std::to_string(column) +
                               " of " + std::to_string(table.columns.size()) + " columns");
  }
  return table;
}

// Where the examples' data lie.
inline std::string example_data(const std::string& file) { return BITALE_EXAMPLE_DATA "/" + file; }

// Tests run the examples for a few steps only.
inline bool quick() { return std::getenv("BITALE_EXAMPLE_QUICK") != nullptr; }
