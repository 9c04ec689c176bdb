import fc from "fast-check";
import { expect, it } from "vitest";
import type { KeyValue } from "../../../wire/cri-messages.ts";
import { LayeredVariables } from "../../../wire/cri-variables.ts";
import { containerEnvironment } from "./environment.ts";

const names = fc.constantFrom("PATH", "HOME", "HOSTNAME", "A", "B");
const variables = fc.array(fc.record({ key: names, value: fc.string({ maxLength: 3 }) }), { maxLength: 8 });

it("has what a container is given after and over what it has by default, as one map of both has it", () => {
  fc.assert(
    fc.property(variables, variables, (own, shared) => {
      const given = [...shared, ...own]; // a later one of the same name wins
      const defaults = new Map([
        ["PATH", "/bin"],
        ["HOSTNAME", "h"],
      ]);
      const plain = (inOrder: Iterable<KeyValue>) => {
        const map = new Map(defaults);
        for (const { key = "", value = "" } of inOrder) map.set(key, Buffer.from(value).toString("latin1"));
        return map;
      };
      const layered = new LayeredVariables(own, shared);
      expect(plain(layered)).toEqual(plain(given));
      expect(JSON.stringify({ layered })).toBe(JSON.stringify({ layered: [...layered] }));
      // Twice, since what is shared is kept.
      for (const of of [layered, layered, [...layered], given]) {
        const environment = containerEnvironment(defaults, of);
        expect([...environment]).toEqual([...plain(of)]);
        for (const name of ["PATH", "HOME", "HOSTNAME", "A", "B", "C"])
          expect(environment.get(name)).toBe(plain(given).get(name));
      }
    }),
    { seed: 1 },
  );
  expect([...containerEnvironment(new Map([["PATH", "/bin"]]))]).toEqual([["PATH", "/bin"]]);
});
