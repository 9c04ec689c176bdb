import { describe, expect, it } from "vitest";
import { parseImages } from "./images-file.ts";
import { UsageError } from "./usage-error.ts";

function said(text: string): string {
  try {
    return JSON.stringify(parseImages(text, "x.yaml"));
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
}

describe("a file of images", () => {
  it("says flag, file, line and rule of what is wrong, and the name that is near", () => {
    const text =
      "images:\n- name: a\n  shel: true\n  size: ramp 1Mi..2Mi over 5s\n  runs: { memory: lots, after: soon }\n";
    expect(said(text).split("\n")).toEqual([
      '--images x.yaml:3:3: images[0]: there is no field "shel" here; did you mean shell?',
      '--images x.yaml:4:9: images[0].size: "ramp 1Mi..2Mi over 5s" changes with time: write an amount, such as 120Mi',
      '--images x.yaml:5:19: images[0].runs.memory: "lots" is no amount: write a number, with its unit behind it, such as 4, 250m, 1.5Gi',
      '--images x.yaml:5:32: images[0].runs.after: "soon" is no duration such as 90s or 5m',
    ]);
    expect(said("images: [")).toMatch(/^--images x\.yaml:1:\d+: not YAML/);
  });

  it("says ten mistakes, and how many more there are", () => {
    const lines = said(`images:\n${"- { name: a, shel: true }\n".repeat(5_000)}`).split("\n");
    expect([lines.length, lines[10]]).toEqual([11, "and 4990 more"]);
  });

  it("is read", () => {
    const rows =
      "images:\n- { name: a, size: 5Mi, pullTime: 3s, runs: { memory: ramp 1Mi..2Mi over 5s, cpu: 250m } }\n";
    expect(JSON.parse(said(rows))).toMatchObject([
      { name: "a", sizeBytes: 5 << 20, pullMicros: 3_000_000, runs: { cpu: { is: "constant", amount: 250_000_000 } } },
    ]);
  });
});
