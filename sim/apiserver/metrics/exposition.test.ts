import { describe, expect, it } from "vitest";
import { exposition, labelText } from "./exposition.ts";
import { Histogram } from "../../contract/histogram.ts";

describe("the text of metrics", () => {
  it("has families by name and series by labels, and leaves out what has none", () => {
    const text = exposition([
      {
        name: "b_total",
        type: "counter",
        stability: "STABLE",
        help: "B.",
        samples: [
          [labelText({ z: 'quo"te', a: "new\nline\\" }), 2],
          ["", 12_345_678],
        ],
      },
      { name: "a", type: "gauge", stability: "", help: "A.", samples: [["", 0.00001]] },
      { name: "none", type: "gauge", stability: "", help: "None.", samples: [] },
    ]);
    expect(text).toBe(
      [
        "# HELP a A.",
        "# TYPE a gauge",
        "a 1e-05",
        "# HELP b_total [STABLE] B.",
        "# TYPE b_total counter",
        "b_total 1.2345678e+07",
        String.raw`b_total{a="new\nline\\",z="quo\"te"} 2`,
        "",
      ].join("\n"),
    );
  });

  it("counts in each bucket what the ones before have", () => {
    const histogram = new Histogram([0.5, 1_000_000]);
    for (const value of [0.5, 0.6, 1_000_001]) histogram.observe(value);
    const text = exposition([
      { name: "h", type: "histogram", stability: "ALPHA", help: "H.", samples: [['a="b"', histogram]] },
    ]);
    expect(text.split("\n").slice(2)).toEqual([
      'h_bucket{a="b",le="0.5"} 1',
      'h_bucket{a="b",le="1e+06"} 2',
      'h_bucket{a="b",le="+Inf"} 3',
      'h_sum{a="b"} 1.0000021e+06',
      'h_count{a="b"} 3',
      "",
    ]);
  });
});
