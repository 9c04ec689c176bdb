import { describe, expect, it } from "vitest";
import { kindNames, structOfKind } from "../../wire/schema.ts";
import { decodeText, endpoint } from "./objects.fixture.ts";
import { zeroStruct } from "./zero-values.ts";

const zeroOf = (apiVersion: string, kind: string): unknown => {
  const type = structOfKind(apiVersion, kind);
  if (type === undefined) throw new Error(kind);
  return zeroStruct(type);
};

describe("the zero object of a kind", () => {
  it.each([
    ["v1", "ConfigMap", { metadata: { creationTimestamp: null } }],
    ["v1", "Pod", { metadata: { creationTimestamp: null }, spec: { containers: null }, status: {} }],
    ["coordination.svc.io/v1", "Lease", { metadata: { creationTimestamp: null }, spec: {} }],
    [
      "events.svc.io/v1",
      "Event",
      {
        metadata: { creationTimestamp: null },
        eventTime: null,
        regarding: {},
        deprecatedSource: {},
        deprecatedFirstTimestamp: null,
        deprecatedLastTimestamp: null,
      },
    ],
    [
      "apps/v1",
      "Deployment",
      {
        metadata: { creationTimestamp: null },
        spec: {
          selector: null,
          template: { metadata: { creationTimestamp: null }, spec: { containers: null } },
          strategy: {},
        },
        status: {},
      },
    ],
  ])("%s %s", (apiVersion, kind, zero) => {
    expect(zeroOf(apiVersion, kind)).toEqual(zero);
  });

  it("exists for every kind of the tables, frozen", () => {
    for (const name of kindNames()) {
      const slash = name.lastIndexOf("/");
      expect(Object.isFrozen(zeroOf(name.slice(0, slash), name.slice(slash + 1)))).toBe(true);
    }
  });
});

describe("what a client set to nothing", () => {
  it("shows only where the server's type can tell", () => {
    const pod = decodeText(
      '{"spec":{"hostNetwork":false,"enableServiceLinks":false,"terminationGracePeriodSeconds":0,"nodeName":"","runtimeClassName":"","volumes":[],"nodeSelector":{},"containers":[{"name":"c","image":"i","tty":false,"env":[{"name":"E","value":""}],"securityContext":{"privileged":false}}]}}',
      endpoint("v1/pods"),
    ).draft;
    expect(pod).toMatchObject({
      spec: {
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 0,
        runtimeClassName: "",
        containers: [{ env: [{ name: "E" }], securityContext: { privileged: false }, resources: {} }],
      },
    });
    const spec = pod["spec"] as object;
    for (const dropped of ["hostNetwork", "nodeName", "volumes", "nodeSelector"])
      expect(spec).not.toHaveProperty(dropped);
  });

  it("fills required fields of every level", () => {
    const node = decodeText('{"metadata":{"name":"n"}}', endpoint("v1/nodes")).draft;
    expect(node["status"]).toMatchObject({
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      nodeInfo: { machineID: "" },
    });
    const conditions = decodeText('{"status":{"conditions":[{"type":"Ready"}]}}', endpoint("v1/pods")).draft["status"];
    expect(conditions).toEqual({
      conditions: [{ type: "Ready", status: "", lastProbeTime: null, lastTransitionTime: null }],
    });
  });
});
