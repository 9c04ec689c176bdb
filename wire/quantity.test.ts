import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  negateQuantity,
  parseQuantity,
  type Quantity,
  type QuantityForm,
  quantityAt,
} from "./quantity.ts";

function read(text: string): Quantity {
  const result = parseQuantity(text);
  if ("error" in result) throw new Error(`${text}: ${result.error}`);
  return result;
}

describe("quantities: reading", () => {
  const Ki = 1024n;
  /** Amounts in nano. */
  it.each<[text: string, nanos: bigint, form: QuantityForm]>([
    ["0", 0n, "decimalSI"],
    ["00", 0n, "decimalSI"],
    ["0Ki", 0n, "binarySI"],
    ["-", 0n, "decimalSI"], // the scanner takes what has no digits at all for zero
    [".", 0n, "decimalSI"],
    ["Ki", 0n, "binarySI"],
    ["1", 10n ** 9n, "decimalSI"],
    ["+1", 10n ** 9n, "decimalSI"],
    ["-1", -(10n ** 9n), "decimalSI"],
    ["1Ki", 1024n * 10n ** 9n, "binarySI"],
    ["3Ei", 3n * Ki ** 6n * 10n ** 9n, "binarySI"],
    ["100Ti", 100n * Ki ** 4n * 10n ** 9n, "binarySI"],
    ["5n", 5n, "decimalSI"],
    ["4u", 4_000n, "decimalSI"],
    ["3m", 3_000_000n, "decimalSI"],
    ["300T", 300n * 10n ** 21n, "decimalSI"],
    ["1E", 10n ** 27n, "decimalSI"],
    ["1E-3", 10n ** 6n, "decimalExponent"],
    ["1e3", 10n ** 12n, "decimalExponent"],
    ["1.3E+6", 13n * 10n ** 14n, "decimalExponent"],
    ["0.5e0", 5n * 10n ** 8n, "decimalExponent"],
    ["100.035k", 100_035n * 10n ** 9n, "decimalSI"],
    ["6.987654321G", 6_987_654_321n * 10n ** 9n, "decimalSI"],
    ["0.00050k", 5n * 10n ** 8n, "decimalSI"],
    ["3.001n", 4n, "decimalSI"], // rounded away from zero
    ["-3.001n", -4n, "decimalSI"],
    ["0.0000000001", 1n, "decimalSI"],
    ["0.00000012345", 124n, "decimalSI"],
    ["0.5e-9", 1n, "decimalExponent"],
    ["12E", 12n * 10n ** 27n, "decimalSI"],
    ["9Ei", (2n ** 63n - 1n) * 10n ** 9n, "binarySI"], // capped
    ["9223372036854775807Ki", (2n ** 63n - 1n) * 10n ** 9n, "binarySI"],
    ["100.035Ki", 10_243_584n * 10n ** 7n, "binarySI"],
    ["0.5Mi", 512n * 1024n * 10n ** 9n, "binarySI"],
    ["0.025Ti", 274_877_906_944n * 10n ** 8n, "binarySI"],
    ["0.000000000001Ki", 2n, "decimalSI"], // less than one: the form changes
    [".001", 10n ** 6n, "decimalSI"],
    ["1.", 10n ** 9n, "decimalSI"],
    ["1.G", 10n ** 18n, "decimalSI"],
  ])("%s", (text, nanos, form) => {
    const quantity = read(text);
    expect(quantityAt(quantity, -9)).toBe(nanos);
    expect(quantity.form).toBe(form);
  });

  const formError = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const suffixError = "unable to parse quantity's suffix";
  it.each([
    ["", formError],
    ["1.1.M", formError],
    ["1+1.0M", formError],
    ["aoeu", formError],
    [" 1", formError],
    ["1 ", formError],
    ["0.1am", formError],
    ["0.1mi", suffixError],
    [".5i", suffixError],
    ["1i", suffixError],
    ["-3.01i", suffixError],
    ["-3.01e-", suffixError],
    ["1e", suffixError],
    ["1k5", suffixError],
    ["1K", suffixError],
    ["1Kii", suffixError],
    ["1e4294967297", suffixError],
    ["Ei", "unable to parse numeric part of quantity"],
  ])("refuses %j", (text, error) => {
    expect(parseQuantity(text)).toEqual({ error });
  });
});

describe("quantities: writing", () => {
  it.each([
    ["1Ki", "1Ki"],
    ["1024Mi", "1Gi"],
    ["307200Ki", "300Mi"],
    ["1025024Mi", "1001Gi"],
    ["1024Gi", "1Ti"],
    ["1000M", "1G"],
    ["0.001T", "1G"],
    ["1000u", "1m"],
    ["5000m", "5"],
    ["0.5", "500m"],
    ["1.08", "1080m"],
    ["1080000000n", "1080m"],
    [".001e12", "1e9"],
    ["0.001e0", "1e-3"],
    ["1000e-12", "1e-9"],
    [".001Ki", "1024m"],
    [".000001Ki", "1024u"],
    [".000000000001Ki", "2n"],
    ["1.5Gi", "1536Mi"],
    ["1.0005Ki", "1024512m"],
    ["0.5Ki", "512"],
    ["00", "0"],
    ["0Mi", "0"],
    ["-0.5", "-500m"],
    ["-1024Ki", "-1Mi"],
    ["9Ei", "9223372036854775807"],
    ["100000", "100k"],
    ["1000E", "1e21"],
    ["8Ki", "8Ki"],
    ["+1", "+1"], // kept, though not canonical
    ["1.500", "1.500"],
    ["1E3", "1E3"],
    ["1.5", "1500m"],
    ["1100", "1100"],
  ])("%s → %s", (text, expected) => {
    expect(formatQuantity(read(text))).toBe(expected);
  });

  it("means the same after writing, and the canonical form is its own", () => {
    const text = fc
      .tuple(
        fc.constantFrom("", "-", "+"),
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        fc.option(fc.stringMatching(/^\d{0,12}$/)),
        fc.constantFrom(
          "",
          "n",
          "u",
          "m",
          "k",
          "M",
          "G",
          "T",
          "P",
          "E",
          "Ki",
          "Mi",
          "Gi",
          "Ti",
          "Pi",
          "Ei",
          "e3",
          "E-2",
          "e+7",
        ),
      )
      .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === null ? "" : `.${fraction}`}${suffix}`);
    fc.assert(
      fc.property(text, (value) => {
        const quantity = read(value);
        expect(compareQuantities(read(formatQuantity(quantity)), quantity)).toBe(0);
        const canonical = canonicalQuantity(quantity);
        expect(compareQuantities(read(canonical), quantity)).toBe(0);
        expect(canonicalQuantity(read(canonical))).toBe(canonical);
        expect(canonical).toMatch(/^-?[0-9]+([numkMGTPE]|[KMGTPE]i|e-?[0-9]+)?$/);
      }),
      { seed: 1, numRuns: 3000 },
    );
  });
});

describe("quantities: arithmetic", () => {
  it.each([
    ["100m", "50m", 1],
    ["50m", "100m", -1],
    ["10000T", "100Gi", 1],
    ["1Ki", "1024", 0],
    ["-1", "1", -1],
    ["0", "0Ki", 0],
  ])("compares %s with %s", (left, right, sign) => {
    expect(compareQuantities(read(left), read(right))).toBe(sign);
  });

  it("adds as integers of nano do, and keeps the form of what is not zero", () => {
    const amount = fc.tuple(
      fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
      fc.constantFrom("n", "m", "", "k", "Ki", "Gi"),
    );
    fc.assert(
      fc.property(amount, amount, ([a, left], [b, right]) => {
        const [x, y] = [read(`${a}${left}`), read(`${b}${right}`)];
        const sum = addQuantities(x, y);
        expect(quantityAt(sum, -9)).toBe(quantityAt(x, -9) + quantityAt(y, -9));
        if (a !== 0n) expect(sum.form).toBe(x.form);
        else if (b !== 0n) expect(sum.form).toBe(y.form);
        expect(quantityAt(addQuantities(x, negateQuantity(x)), -9)).toBe(0n);
      }),
      { seed: 2, numRuns: 1000 },
    );
    expect(formatQuantity(addQuantities(read("0"), read("1Gi")))).toBe("1Gi");
    expect(formatQuantity(addQuantities(read("1Gi"), read("0")))).toBe("1Gi");
    expect(formatQuantity(addQuantities(read("1Gi"), read("1Gi")))).toBe("2Gi");
  });

  it("rounds away from zero at a scale", () => {
    expect(quantityAt(read("9.01"), 0)).toBe(10n);
    expect(quantityAt(read("-9.01"), 0)).toBe(-10n);
    expect(quantityAt(read("9.01"), -3)).toBe(9010n);
    expect(quantityAt(read("1.5Gi"), 0)).toBe(1610612736n);
  });
});
