import { describe, expect, it } from "vitest";
import { jsonBodySteps, jsonReadings, readJsonBody } from "./json-body.ts";

const { plainly, objects } = jsonReadings;

function readInSteps(text: string, options = plainly): Uint8Array {
  const body = new TextEncoder().encode(text);
  for (const _ of jsonBodySteps(body, options));
  return body;
}

/** What is read once is read from memory: the text is gone. */
function readAgain(body: Uint8Array, options = plainly): unknown {
  body.fill(0x20);
  const { read } = readJsonBody(body, options);
  return read.ok ? read.value : read.error;
}

describe("a body that was read in steps", () => {
  it.each(['{"a":1}', '{"a":1,"a":1}', '{"a":"\\ud800"}', '{"a":1e2}'])(
    "%s is not read again, in the same way",
    (text) => {
      for (const options of [plainly, objects(true)]) {
        expect(readAgain(readInSteps(text, options), options)).toEqual(JSON.parse(text.replace("ud800", "ufffd")));
      }
    },
  );

  it("is read again in another way, where that could make a difference", () => {
    expect(readAgain(readInSteps('{"a":1e2}', plainly), objects(false))).toBe("unexpected end of JSON input");
    expect(readAgain(readInSteps('{"a":1}', plainly), objects(false))).toEqual({ a: 1 });
  });

  it("is wrong as it would have been at once", () => {
    expect(readAgain(readInSteps('{"a":'))).toBe("unexpected end of JSON input");
    expect(readAgain(readInSteps('{"a":x'))).toBe("invalid character 'x' looking for beginning of value");
  });

  it("is handed out once", () => {
    const body = readInSteps('{"a":1}');
    expect(readJsonBody(body, plainly).read.ok).toBe(true);
    expect(readAgain(body)).toBe("unexpected end of JSON input");
  });
});
