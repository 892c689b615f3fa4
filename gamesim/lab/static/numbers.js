// Format and parse numbers. `shown` prints the same digits as `gamesim run`.

/** Format a number to three significant digits, rounding half to even like Python's ".3g". */
export function shown(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Math.abs(value) < 1e-12) return "0";
  if (Math.abs(value) >= 1e5) return Math.round(value).toLocaleString("en-US");
  const [digits, power] = threeDigits(Math.abs(value));
  const sign = value < 0 ? "-" : "";
  if (power < -4 || power >= 3) {
    const mantissa = trimmed(`${digits[0]}.${digits.slice(1)}`);
    return `${sign}${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const text =
    power >= 0 ? `${digits.slice(0, power + 1)}.${digits.slice(power + 1)}` : `0.${"0".repeat(-power - 1)}${digits}`;
  return sign + trimmed(text);
}

function threeDigits(value) {
  const [mantissa, exponent] = value.toExponential(60).split("e"); // enough digits to detect ties
  const all = mantissa.replace(".", "");
  let head = Number(all.slice(0, 3));
  const rest = all.slice(3);
  const half = "5" + "0".repeat(rest.length - 1);
  if (rest > half || (rest === half && head % 2 === 1)) head += 1;
  return head === 1000 ? ["100", Number(exponent) + 1] : [String(head), Number(exponent)];
}

const trimmed = (text) => (text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text);

/** Format a probability with at most `digits` decimals. */
export function share(value, digits = 3) {
  if (Number.isNaN(value)) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 || Number(text) === 1 ? String(Number(text)) : text;
}

export const whole = (value) => Math.round(value).toLocaleString("en-US");

/** Abbreviate a large number: 4.6k, 8.9M. */
export function short(value) {
  for (const [unit, size] of [
    ["G", 1e9],
    ["M", 1e6],
    ["k", 1e3],
  ]) {
    if (value >= size) return `${(value / size).toFixed(value >= 100 * size ? 0 : 1)}${unit}`;
  }
  return value >= 10 ? value.toFixed(0) : value.toFixed(1).replace(".0", "");
}

/** Parse a typed number; return its value, or a mistake in the wording of the scenario checks. */
export function readNumber(text, { integer = false, least = -Infinity, most = Infinity } = {}) {
  const exact = integer ? Number.MAX_SAFE_INTEGER : Infinity; // larger integers lose digits
  const [low, high] = [Math.max(least, -exact), Math.min(most, exact)];
  const typed = text.trim().replace("−", "-");
  const given = typed === "" ? "nothing" : `‘${typed.length > 24 ? `${typed.slice(0, 23)}…` : typed}’`;
  const expected = (what) => ({ mistake: `expected ${what}, got ${given}` });
  const wanted = integer ? "an integer" : "a number";
  const [over, under = "1", more] = integer ? [typed] : typed.split("/"); // a fraction such as 1/2
  const isNumber = (text) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
  if (!isNumber(over) || !isNumber(under) || more !== undefined || Number(under) === 0) return expected(wanted);
  const value = Number(over) / Number(under);
  if (value < low || value > high) {
    const [lowest, highest] = [low, high].map((limit) => limit.toLocaleString("en-US"));
    return expected(`${wanted} from ${lowest} to ${highest}`);
  }
  if (!Number.isFinite(value)) return expected("a finite number");
  return integer && !Number.isInteger(value) ? expected(wanted) : { value };
}
