import { expect, it } from "vitest";
import type { Json } from "../../../contract/http-message.ts";
import { containerCauses, podCauses } from "./pods.fixture.ts";

const ports = (...list: Json[]): readonly string[] => containerCauses({ ports: list });

it("Ports are numbers of a container, with names that are short and given once", () => {
  expect(ports({ containerPort: 80, name: "http" }, { containerPort: 81, hostPort: 81, protocol: "UDP" })).toEqual([]);
  expect(ports({}, { containerPort: 70_000 }, { containerPort: 1, hostPort: 70_000, protocol: "X" })).toEqual([
    "ports[0].containerPort: Required value",
    "ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
    "ports[2].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
    'ports[2].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ]);
  expect(
    ports({ containerPort: 1, name: "UP" }, { containerPort: 2, name: "a" }, { containerPort: 3, name: "a" }),
  ).toEqual([
    'ports[0].name: Invalid value: "UP": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    'ports[0].name: Invalid value: "UP": must contain at least one letter (a-z)',
    'ports[2].name: Duplicate value: "a"',
  ]);
  expect(ports({ containerPort: 1, name: "-a--much-too-long" })).toHaveLength(3);
});

it("A port of the node goes to one container, and in its network is the container's own", () => {
  const container = (name: string, ports: Json): Json => ({ name, image: "i", ports });
  const open = [{ containerPort: 80, hostPort: 81 }];
  expect(podCauses({ containers: [container("a", open), container("b", open)] })).toEqual([
    'spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//81"',
  ]);
  expect(podCauses({ hostNetwork: true, containers: [container("a", [{ containerPort: 80 }])] })).toEqual([]);
  expect(podCauses({ hostNetwork: true, containers: [container("a", open)] })).toEqual([
    "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true",
  ]);
});
