// Costs that depend on the row, with the grammar of decision.toml: numbers, columns, + - * / and brackets.

export type Columns = ReadonlyMap<string, Float64Array>;
type Value = (row: number) => number;

const WORDS = /\s*(?:((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|([\p{L}_][\p{L}\p{N}_]*)|`([^`]+)`|([-+*/()]))/uy;

export class FormulaError extends Error {}

/** The value of a formula in each of `rows` rows; throws a FormulaError that says what is wrong. */
export function formulaValues(text: string, columns: Columns, rows: number): Float64Array {
  const value = parsed(text, columns);
  return Float64Array.from({ length: rows }, (_, row) => value(row));
}

function parsed(text: string, columns: Columns): Value {
  const words = wordsOf(text);
  let at = 0;
  const take = (sign: string) => (words[at] === sign ? (at++, true) : false);

  const sum = (): Value => {
    let left = product();
    for (;;) {
      const sign = take("+") ? 1 : take("-") ? -1 : 0;
      if (!sign) return left;
      const [before, right] = [left, product()];
      left = (row) => before(row) + sign * right(row);
    }
  };
  const product = (): Value => {
    let left = factor();
    for (;;) {
      const times = take("*");
      if (!times && !take("/")) return left;
      const [before, right] = [left, factor()];
      left = times ? (row) => before(row) * right(row) : (row) => before(row) / right(row);
    }
  };
  const factor = (): Value => {
    if (take("-")) {
      const inner = factor();
      return (row) => -inner(row);
    }
    if (take("+")) return factor();
    if (take("(")) {
      const inner = sum();
      if (!take(")")) throw new FormulaError("a parenthesis is not closed");
      return inner;
    }
    const word = words[at++];
    if (word === undefined) throw new FormulaError("the formula is incomplete");
    if (typeof word === "number") return () => word;
    if (typeof word === "string") throw new FormulaError(`unexpected “${word}”`);
    const column = columns.get(word.column);
    if (!column) throw new FormulaError(`there is no numeric column “${word.column}”`);
    return (row) => column[row]!;
  };

  const value = sum();
  if (at < words.length) throw new FormulaError("an operator is missing");
  return value;
}

function wordsOf(text: string): (number | string | { column: string })[] {
  const words: (number | string | { column: string })[] = [];
  WORDS.lastIndex = 0;
  for (let end = 0; text.slice(end).trim(); end = WORDS.lastIndex) {
    const found = WORDS.exec(text);
    if (!found) throw new FormulaError(`“${text.slice(end).trim().slice(0, 12)}” is not part of a formula`);
    const [, number, name, quoted, sign] = found;
    words.push(number !== undefined ? Number(number) : sign ?? { column: (name ?? quoted)! });
  }
  return words;
}
