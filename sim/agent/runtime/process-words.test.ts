import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ProcessWords, wordsMax } from "./process-words.ts";

const expand = (text: string, values: Readonly<Record<string, string>>): string =>
  new ProcessWords().expand(text, new Map(Object.entries(values)));

describe("references to variables", () => {
  it("are replaced where there is such a variable, and a dollar is written twice", () => {
    expect(expand("$(A)-$(B)-$$(A)-$(A", { A: "1" })).toBe("1-$(B)-$(A)-$(A");
    expect(expand("$$$(A)$", { A: "1" })).toBe("$1$");
    expect(expand("$(x$(A)", { "x$(A": "odd", A: "1" })).toBe("odd");
  });

  it("are what one expression finds", () => {
    const plainly = (text: string, values: Readonly<Record<string, string>>): string =>
      text.replace(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) =>
        name === undefined ? "$" : ((Object.hasOwn(values, name) ? values[name] : undefined) ?? whole),
      );
    const text = fc.array(fc.constantFrom("$", "(", ")", "A", "B", "$(A)", "$$", "-")).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, fc.dictionary(fc.constantFrom("A", "B", "AB", "$A", ""), text), (written, values) => {
        expect(expand(written, values)).toBe(plainly(written, values));
      }),
      { seed: 5, numRuns: 2_000 },
    );
  });

  it("are looked for once where none of them ends", () => {
    const open = "$(".repeat(700_000);
    expect(expand(open, {})).toBe(open);
  });
});

describe("the words of a process", () => {
  it("are too long beyond the limit, and are not put together then", () => {
    const words = new ProcessWords();
    const values = new Map([["A", "x".repeat(wordsMax / 4)]]);
    words.expand("$(A)$(A)$(A)", values);
    expect(words.isTooLong).toBe(false);
    expect(words.expand("$(A)".repeat(1_000_000), values)).toBe("");
    expect(words.isTooLong).toBe(true);
  });

  it("are fewer when one goes", () => {
    const words = new ProcessWords();
    for (let round = 0; round < 10; round++) {
      words.count(wordsMax / 2);
      words.count(-wordsMax / 2);
    }
    expect(words.isTooLong).toBe(false);
  });
});
