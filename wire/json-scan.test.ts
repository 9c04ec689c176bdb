import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonDocument, type JsonSyntaxError, jsonDepthMax, readJson, readJsonSteps } from "./json-reader.ts";
import { parseJsonStrict, quickJsonSteps } from "./json-scan.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function accepted(result: JsonDocument | JsonSyntaxError): JsonDocument {
  if (!result.ok) throw new Error(`${result.error} at ${result.offset}`);
  return result;
}

/** Both ways must agree, on text and on bytes. */
function both(text: string): JsonDocument | JsonSyntaxError {
  const quick = parseJsonStrict(text);
  for (const other of [readJson(text), parseJsonStrict(encode(text)), readJson(encode(text))]) {
    expect(other).toEqual(quick);
  }
  return quick;
}

describe("strict JSON: what is JSON", () => {
  it.each([
    "[[]   ]",
    '[""]',
    "[]",
    '["a"]',
    "[false]",
    "[null, 1]",
    "[1\n]",
    " [1]",
    "[1,null,null,null,2]",
    "[2] ",
    "[123e65]",
    "[0e+1]",
    "[0e1]",
    "[ 4]",
    "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]",
    "[20e1]",
    "[-0]",
    "[-123]",
    "[1E22]",
    "[1E-2]",
    "[1E+2]",
    "[123.456e78]",
    '{"asd":"sdf", "dfg":"fgh"}',
    "{}",
    '{"":0}',
    String.raw`{"foo\u0000bar": 42}`,
    '{"x":[{"id": "x"}], "id": "x"}',
    String.raw`["\u0060\u012a\u12AB"]`,
    String.raw`["\uD801\udc37"]`,
    String.raw`["\"\\\/\b\f\n\r\t"]`,
    String.raw`["\\u0000"]`,
    '["a/*b*/c/*d//e"]',
    '["\u007f"]',
    '["\u2028\u2029"]',
    '["€𝄞"]',
    "\t\r\n 1 ",
    '""',
    "true",
    '{"__proto__":{"a":1},"constructor":2}',
  ])("accepts %j", (text) => {
    expect(accepted(both(text)).value).toEqual(JSON.parse(text));
  });

  it.each([
    ["", "unexpected end of JSON input", 0],
    [" ", "unexpected end of JSON input", 1],
    ['{"metadata": {', "unexpected end of JSON input", 14], // recorded
    ["[1 true]", "invalid character 't' after array element", 3],
    ["[a", "invalid character 'a' looking for beginning of value", 1],
    ['["": 1]', "invalid character ':' after array element", 3],
    ['[""],', "invalid character ',' after top-level value", 4],
    ["[,1]", "invalid character ',' looking for beginning of value", 1],
    ["[1,,2]", "invalid character ',' looking for beginning of value", 3],
    ['["x"]]', "invalid character ']' after top-level value", 5],
    ["[1,]", "invalid character ']' looking for beginning of value", 3],
    ['["x"', "unexpected end of JSON input", 4],
    ["[fals]", "invalid character ']' in literal false (expecting 'e')", 5],
    ["nul", "invalid character ' ' in literal null (expecting 'l')", 3],
    ["[tru", "invalid character ' ' in literal true (expecting 'e')", 4],
    ["[-01]", "invalid character '1' after array element", 3],
    ["[-]", "invalid character ']' in numeric literal", 2],
    ["-", "invalid character ' ' in numeric literal", 1],
    ["[+1]", "invalid character '+' looking for beginning of value", 1],
    ["[.5]", "invalid character '.' looking for beginning of value", 1],
    ["[1.]", "invalid character ']' after decimal point in numeric literal", 3],
    ["[1.e5]", "invalid character 'e' after decimal point in numeric literal", 3],
    ["[1e]", "invalid character ']' in exponent of numeric literal", 3],
    ["[1e+]", "invalid character ']' in exponent of numeric literal", 4],
    ["1e", "invalid character ' ' in exponent of numeric literal", 2],
    ["[1eE2]", "invalid character 'E' in exponent of numeric literal", 3],
    ["[0x1]", "invalid character 'x' after array element", 2],
    ["[1.2.3]", "invalid character '.' after array element", 4],
    ["[NaN]", "invalid character 'N' looking for beginning of value", 1],
    ["[Infinity]", "invalid character 'I' looking for beginning of value", 1],
    ['{"x", null}', "invalid character ',' after object key", 4],
    ['{"x"', "unexpected end of JSON input", 4],
    ['{"a" b}', "invalid character 'b' after object key", 5],
    ["{1:1}", "invalid character '1' looking for beginning of object key string", 1],
    ["{'a':0}", String.raw`invalid character '\'' looking for beginning of object key string`, 1],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string", 7],
    ['{"a":"b"}#', "invalid character '#' after top-level value", 9],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`, 7],
    ['{"a":}', "invalid character '}' looking for beginning of value", 5],
    ['["\n"]', String.raw`invalid character '\n' in string literal`, 2],
    ['["\u0000"]', String.raw`invalid character '\x00' in string literal`, 2],
    [String.raw`["\a"]`, "invalid character 'a' in string escape code", 3],
    [String.raw`["\x00"]`, "invalid character 'x' in string escape code", 3],
    [String.raw`["\u00A"]`, `invalid character '"' in \\u hexadecimal character escape`, 7],
    [String.raw`"\u12`, "invalid character ' ' in \\u hexadecimal character escape", 5],
    ['"\\', "invalid character ' ' in string escape code", 2],
    ['"abc', "unexpected end of JSON input", 4],
    ["[é]", "invalid character 'Ã' looking for beginning of value", 1],
    ['["é" é]', "invalid character 'Ã' after array element", 6],
    ["\ufeff{}", "invalid character 'ï' looking for beginning of value", 0],
    ["[1]x", "invalid character 'x' after top-level value", 3],
    ["[\u00a0]", "invalid character 'Â' looking for beginning of value", 1],
    ["\f[]", String.raw`invalid character '\f' looking for beginning of value`, 0],
  ])("refuses %j", (text, error, offset) => {
    expect(both(text)).toEqual({ ok: false, error, offset });
    expect(() => JSON.parse(text)).toThrow();
  });

  it("agrees with JSON.parse on every document", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const result = accepted(both(text));
        const rounded = JSON.stringify(result.value, (_, part) => (typeof part === "bigint" ? Number(part) : part));
        expect(JSON.parse(rounded)).toEqual(JSON.parse(text));
        expect(result.duplicates).toEqual([]);
      }),
      { seed: 1, numRuns: 1000 },
    );
  });

  it("agrees with JSON.parse on what is JSON at all, whatever the damage", () => {
    const damage = fc.record({
      at: fc.nat(),
      drop: fc.nat({ max: 2 }),
      put: fc.string({ unit: fc.constantFrom(...'[]{}:,"\\u0e1-+. tfn\n'), maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(damage, { maxLength: 3 }), (value, damages) => {
        let text = JSON.stringify(value);
        for (const { at, drop, put } of damages) {
          const from = at % (text.length + 1);
          text = text.slice(0, from) + put + text.slice(from + drop);
        }
        text = text.toWellFormed();
        let native: boolean;
        try {
          JSON.parse(text);
          native = true;
        } catch {
          native = false;
        }
        expect(readJson(text).ok).toBe(native);
        expect(parseJsonStrict(encode(text))).toEqual(readJson(text));
      }),
      { seed: 2, numRuns: 3000 },
    );
  });
});

describe("strict JSON: what the native parser hides", () => {
  it("names each duplicate key by its path, in the order of the text, once", () => {
    const text =
      '{"metadata":{"labels":{"a":"1","a":"2"}},"data":{"k":"v","k":"w","k":"x"},"data":{"z":"y"},"l":[{"b":1},[{"c":1,"c":2}]]}';
    const result = accepted(both(text));
    expect(result.duplicates).toEqual(["metadata.labels.a", "data.k", "data", "l[1][0].c"]);
    expect(result.value).toEqual(JSON.parse(text)); // the last one stands
  });

  it("keeps an empty key in the path", () => {
    expect(accepted(both('{"":{"b":1,"b":2}}')).duplicates).toEqual([".b"]);
  });

  it("merges objects under one key when asked to", () => {
    const text =
      '{"data":{"k":"v","m":{"a":1}},"data":{"z":"y","m":{"b":2}},"data":{"k":1,"k":2},"s":{"a":1},"s":3,"t":3,"t":{"a":1}}';
    const result = accepted(parseJsonStrict(text, { duplicateObjects: "merge" }));
    expect(result.value).toEqual({ data: { k: 2, z: "y", m: { a: 1, b: 2 } }, s: 3, t: { a: 1 } });
    expect(result.duplicates).toEqual(["data", "data.k", "s", "t"]);
  });

  it("finds duplicates that a second reading of the text finds", () => {
    const key = fc.constantFrom("a", "b", "__proto__", "1", "é", 'q"', "constructor");
    type Tree = number | Tree[] | { entries: [string, Tree][] };
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        fc.nat({ max: 9 }),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.record({ entries: fc.array(fc.tuple(key, tie("tree")), { maxLength: 4 }) }),
      ),
    }));
    const write = (node: Tree): string => {
      if (typeof node === "number") return String(node);
      if (Array.isArray(node)) return `[${node.map(write).join(" ,")}]`;
      return `{${node.entries.map(([name, value]) => `${JSON.stringify(name)} :${write(value)}`).join(",")}}`;
    };
    const find = (node: Tree, path: string, found: Set<string>): Set<string> => {
      if (typeof node === "number") return found;
      if (Array.isArray(node)) {
        node.forEach((item, at) => find(item, `${path}[${at}]`, found));
        return found;
      }
      node.entries.forEach(([name, value], at) => {
        const own = path === "" ? name : `${path}.${name}`;
        if (node.entries.slice(0, at).some(([earlier]) => earlier === name)) found.add(own);
        find(value, own, found);
      });
      return found;
    };
    fc.assert(
      fc.property(tree, (node) => {
        const text = write(node);
        const result = accepted(parseJsonStrict(text));
        expect(result.duplicates).toEqual([...find(node, "", new Set())]);
        expect(result.value).toEqual(JSON.parse(text));
      }),
      { seed: 3, numRuns: 2000 },
    );
  });

  it("keeps integers exactly, and tells of every number that a double cannot hold", () => {
    const text =
      '{"a":9007199254740993,"b":[1,-9223372036854775808],"c":1e999,"d":9007199254740991,"e":123456789012345678901234567890}';
    const result = accepted(both(text));
    expect(result.value).toEqual({
      a: 9007199254740993n,
      b: [1, -9223372036854775808n],
      c: Number.POSITIVE_INFINITY,
      d: 9007199254740991,
      e: 123456789012345678901234567890n,
    });
    expect(result.unsafeNumbers).toBe(true);
    expect(accepted(both("[9007199254740991,-1.5e300]")).unsafeNumbers).toBe(false);
    for (const alone of ["9007199254740993", "1e999"]) expect(accepted(both(alone)).unsafeNumbers).toBe(true);
  });

  it("reads of a whole number without end as many digits as mean something", () => {
    for (const digits of [300, 400, 9_999, 10_000, 12_000, 300_000]) {
      const { value } = accepted(readJson(`-${"9".repeat(digits)}`));
      expect(Number(value)).toBe(Number(`-${"9".repeat(digits)}`));
      expect(String(value).length).toBe(Math.min(digits + 1, 10_000));
    }
  });

  it("tells of the duplicates of a deep text as many as there is room for", () => {
    const depth = 3_000;
    const twice = Array.from({ length: 2_000 }, (_, at) => `"k${at}":1,"k${at}":2`).join();
    const { duplicates } = accepted(readJson(`${'{"a":'.repeat(depth)}{${twice}}${"}".repeat(depth)}`));
    expect(duplicates[0]).toBe(`${"a.".repeat(depth)}k0`);
    expect(duplicates.join("").length).toBeLessThan(1_100_000); // and not twelve million
  });

  it("says where keys stand: those asked for, and duplicates", () => {
    const text = '{"a":[{"b":1},{"b":{"c":2}}],"a.b":3,"d":{"e":4,"e":5},"f":6,"f":7}';
    const offsetsOf = ["a[1].b", "a[1].b.c", "a.b", "f", "a[1].c", "a[2].b", "b", "d.", ""];
    const { first, second } = accepted(readJson(text, { offsetsOf })).offsets ?? {};
    const after = (offset: number): string => text.slice(offset, offset + 3);
    expect([...(first ?? [])].map(([path, offset]) => [path, after(offset)])).toEqual([
      ["a[1].b", ':{"'],
      ["a[1].b.c", ":2}"],
      ["a.b", ":3,"],
      ["f", ":6,"],
    ]);
    expect([...(second ?? [])].map(([path, offset]) => [path, after(offset)])).toEqual([
      ["d.e", ":5}"],
      ["f", ":7}"],
    ]);
    expect(accepted(readJson(text)).offsets).toBeUndefined();
  });

  it("spells numbers that are whole and do not look it, when asked to", () => {
    const text = "[1, -0, 1.5, 1.0, -2.00, 1e3, 1E-3, 1e999, 0.0]";
    expect(accepted(both(text)).value).toEqual([1, -0, 1.5, 1, -2, 1000, 0.001, Number.POSITIVE_INFINITY, 0]);
    const spelled = parseJsonStrict(text, { spelledNumbers: true });
    const values = spelled.ok ? (spelled.value as readonly (number | symbol)[]) : [];
    expect(values.map((value) => (typeof value === "symbol" ? value.description : value))).toEqual([
      1,
      -0,
      1.5,
      "1.0",
      "-2.00",
      "1e3",
      0.001,
      "1e999",
      "0.0",
    ]);
  });

  it.each<[string, string, stepsMin: number]>([
    ["members that are there twice", `{${'"a":1,'.repeat(50_000)}"b":2}`, 9],
    ["items", `[1e0${",1".repeat(100_000)}]`, 12],
    ["levels", `${'[1e0,{"a":'.repeat(4_900)}1${"}]".repeat(4_900)}`, 2],
    ["a long value", String.raw`["\ud800${String.raw`\n`.repeat(100_000)}"]`, 6],
    ["a long key", String.raw`{"\ud800${String.raw`\n`.repeat(100_000)}":1}`, 6],
    ["values with escapes", `[${String.raw`"\ud800\n\n\n\n\n\n\n\n\n",`.repeat(10_000)}1]`, 6],
    ["a text that ends too early", `["${String.raw`\n`.repeat(100_000)}`, 6],
  ])("reads in steps what the engine's parser would not keep: %s", (_, text, stepsMin) => {
    const steps = readJsonSteps(encode(text));
    let count = 1;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count++;
    expect(count).toBeGreaterThanOrEqual(stepsMin);
    expect(step.value).toEqual(readJson(text));
  });

  it("reads long strings as the engine's parser does, wherever a step ends in them", () => {
    const part = fc.constantFrom("a", "é", String.raw`\n`, String.raw`\ud83d\ude00`, String.raw`\u0041`, "😀");
    const long = fc.record({ parts: fc.array(part, { maxLength: 6 }), times: fc.integer({ min: 0, max: 9_000 }) });
    // What is wrong, and at which of its bytes.
    const wrong = fc.constantFrom(["", 0], [String.raw`\x`, 1], ["\n", 0], [String.raw`\u00`, 4]);
    fc.assert(
      fc.property(fc.array(long, { maxLength: 4 }), wrong, (longs, [end, offset]) => {
        const inside = longs.map(({ parts, times }) => parts.join("").repeat(times)).join("");
        const before = `{"${inside}":["${inside}`;
        const text = `${before}${end}",{"b":1}]}`;
        if (end === "") expect(accepted(readJson(text)).value).toEqual(JSON.parse(text));
        else expect(readJson(text)).toMatchObject({ ok: false, offset: encode(before).length + offset });
      }),
      { seed: 4, numRuns: 60 },
    );
  });

  it("counts what the engine's parser has read in steps", () => {
    const steps = quickJsonSteps(encode(`{"a":[${"{},".repeat(100_000)}{}]}`));
    let count = 1;
    while (steps.next().done !== true) count++;
    expect(count).toBeGreaterThan(10);
  });

  it("stops at the depth that the server stops at", () => {
    const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth);
    expect(parseJsonStrict(nested(jsonDepthMax, "[", "]")).ok).toBe(true);
    expect(parseJsonStrict(nested(jsonDepthMax + 1, "[", "]"))).toEqual({
      ok: false,
      error: "invalid character '[' exceeded max depth",
      offset: jsonDepthMax,
    });
    const objects = `${'{"a":'.repeat(jsonDepthMax)}1${"}".repeat(jsonDepthMax)}`;
    expect(parseJsonStrict(objects).ok).toBe(true);
    expect(parseJsonStrict("[".repeat(1_000_000)).ok).toBe(false);
  });

  it("replaces what is no UTF-8, byte by byte, and says so", () => {
    const bytes = new Uint8Array([...encode('{"a":"x'), 0xff, 0xe2, 0x82, ...encode('é","b":'), ...encode('"€"}')]);
    const result = accepted(parseJsonStrict(bytes));
    expect(result.value).toEqual({ a: "x\ufffd\ufffd\ufffdé", b: "€" });
    expect(result.invalidUtf8).toBe(true);
    expect(parseJsonStrict(new Uint8Array([0x5b, 0xfe]))).toEqual({
      ok: false,
      error: "invalid character 'þ' looking for beginning of value",
      offset: 1,
    });
  });

  it.each([
    [String.raw`"\ud800"`, "\ufffd"],
    [String.raw`"\udc00x"`, "\ufffdx"],
    [String.raw`"\ud800\u0041"`, "\ufffdA"],
    [String.raw`"\ud83d\ude00"`, "😀"],
    [String.raw`"\ud800\ud83d\ude00"`, "\ufffd😀"],
    [String.raw`"\ud7ff"`, "\ud7ff"],
  ])("replaces unpaired escapes: %s", (text, value) => {
    expect(accepted(both(text)).value).toBe(value);
  });

  it("never touches a prototype", () => {
    const result = accepted(readJson('{"__proto__":{"polluted":1},"a":{"__proto__":null,"__proto__":2}}'));
    expect(Object.keys(result.value as object)).toEqual(["__proto__", "a"]);
    expect(Object.getPrototypeOf(result.value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(result.duplicates).toEqual(["a.__proto__"]);
  });
});
