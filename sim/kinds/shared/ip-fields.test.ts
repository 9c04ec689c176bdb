import { expect, it } from "vitest";
import type { Cause } from "../../contract/errors.ts";
import { judgeAt } from "../../objects/place.ts";
import { cidrBlock, ipCauses, isDualStack, ordinaryIp, readIp } from "./ip-fields.ts";

const blockTexts = (text: string, path: string, causes: Cause[]): void => judgeAt(cidrBlock, text, path, causes);
const ordinaryIpTexts = (text: string, path: string, causes: Cause[]): void => judgeAt(ordinaryIp, text, path, causes);

const messages = (judge: (text: string, path: string, causes: Cause[]) => void, text: string): readonly string[] => {
  const causes: Cause[] = [];
  judge(text, "f", causes);
  return causes.map(({ message }) => message);
};

it.each(["1.2.3.4", "010.020.003.000", "::", "2001:db8::ffff", "::ffff:1.2.3.4", "1::8.8.8.8"])(
  "%s is an address",
  (text) => expect(messages(ipCauses, text)).toEqual([]),
);

it.each(["", "1.2.3", "1.2.3.256", "1.2.3.4.5", "g::", "::1%eth0", "::1.2.3.300", "1.2.3.4/8"])("%s is none", (text) =>
  expect(messages(ipCauses, text)).toHaveLength(1),
);

it("An IPv4 address inside an IPv6 one counts as IPv4", () => {
  expect(readIp("::ffff:1.2.3.4")).toEqual(readIp("1.2.3.4"));
  expect(isDualStack(["::ffff:1.2.3.4", "1.2.3.5"])).toBe(false);
  expect(isDualStack(["1.2.3.5", "::1"])).toBe(true);
});

it("Blocks have a length that fits", () => {
  expect(messages(blockTexts, "010.0.0.0/8")).toEqual([]);
  expect(messages(blockTexts, "10.0.0.0/33")).toEqual([
    'Invalid value: "10.0.0.0/33": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ]);
});

it("Ordinary addresses are neither this host nor this link", () => {
  expect(messages(ordinaryIpTexts, "10.1.2.3")).toEqual([]);
  expect(messages(ordinaryIpTexts, "127.0.0.1")).toEqual([
    'Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ]);
  expect(messages(ordinaryIpTexts, "0.0.0.0")).toEqual(['Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)']);
  expect(messages(ordinaryIpTexts, "fe80::1")).toHaveLength(1);
  expect(messages(ordinaryIpTexts, "224.0.0.1")).toHaveLength(1);
});
