import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TestBed } from "../test-bed.fixture.ts";
import { addressAt, defaultServiceNetwork, firstAddress, isOfServices, readServiceNetwork } from "./service-network.ts";

const networkOf = (text: string) => {
  const network = readServiceNetwork(text);
  if (typeof network === "string") throw new Error(network);
  return network;
};

describe("a network of services", () => {
  // Source: the published allocator's own cases of how much it leaves to those who ask for an address.
  it.each([
    ["192.168.1.0/24", 254, 17],
    ["192.168.0.0/20", 4094, 257],
    ["192.168.0.0/23", 510, 33],
    ["192.168.1.0/25", 126, 17],
    ["192.168.1.0/26", 62, 17],
    ["192.168.1.0/27", 30, 17],
    ["192.168.1.0/28", 14, 1],
    ["10.0.0.0/12", 1_048_574, 257],
  ])("%s has so many addresses, and gives out the lower ones last", (text, last, dynamicFrom) => {
    expect(networkOf(text).range).toEqual({ first: 1, last, dynamicFrom });
  });

  it("is one of 10.0.0.0/24 where nothing is said, and known by any of its addresses", () => {
    expect(defaultServiceNetwork.text).toBe("10.0.0.0/24");
    expect(networkOf("172.30.255.255/16")).toEqual(networkOf("172.30.0.0/16"));
    expect(firstAddress(networkOf("172.30.0.0/16"))).toBe("172.30.0.1");
    expect(networkOf("255.255.255.240/28").text).toBe("255.255.255.240/28");
  });

  it.each([
    "",
    "10.0.0.0",
    "10.0.0.0/",
    "10.0.0.0/a",
    "10.0.0.0/33",
    "10.0.0.256/24",
    "10.0.0.0/24,fd00::/112",
    "x/24",
  ])("is not %s", (text) => {
    expect(readServiceNetwork(text)).toBe("a block of addresses such as 10.96.0.0/16");
  });

  it("is of IPv4, and neither larger nor smaller than the published server takes", () => {
    expect(readServiceNetwork("fd00::/112")).toMatch(/IPv4/);
    for (const text of ["10.0.0.0/11", "10.0.0.0/30", "0.0.0.0/0"])
      expect(readServiceNetwork(text)).toMatch(/12 to 29/);
  });

  it("has its addresses inside, and no others", () => {
    const prefix = fc.integer({ min: 12, max: 29 });
    const address = fc.integer({ min: 0, max: 0xffff_ffff });
    fc.assert(
      fc.property(prefix, address, fc.double({ min: 0, max: 1, noNaN: true }), (length, any, share) => {
        const network = networkOf(`${addressAt({ ...defaultServiceNetwork, base: any }, 0)}/${length}`);
        const { first, last } = network.range;
        const at = Math.floor(first + share * (last - first));
        expect(isOfServices(network, addressAt(network, at))).toBe(true);
        for (const beside of [0, last + 1, last + 2])
          expect(isOfServices(network, addressAt(network, beside))).toBe(false);
      }),
      { seed: 1 },
    );
  });
});

it("gives a thousand services their addresses, refuses others by its name, and has the server's own first", () => {
  const bed = new TestBed({ serviceNetwork: networkOf("10.96.0.0/16") });
  const services = "/api/v1/namespaces/default/services";
  const post = (name: string, spec: object = {}, query = "") =>
    bed.ask(`POST ${services}${query}`, { body: { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } } });
  const given = Array.from({ length: 1000 }, (_, at) => String(post(`s${at}`).at("spec.clusterIP")));
  expect(new Set(given).size).toBe(1000);
  for (const address of given) expect(address).toMatch(/^10\.96\.\d+\.\d+$/);
  expect(post("dry", {}, "?dryRun=All").at("spec.clusterIP")).toBe("10.96.0.0");
  expect(post("own", { clusterIP: "10.96.200.7" }).status).toBe(201);
  expect(post("other", { clusterIP: "10.0.0.9" }).at("message")).toContain("The range of valid IPs is 10.96.0.0/16");
  expect(post("late", { clusterIP: given[0] as string }).at("message")).toContain("already allocated");
});
