import { describe, expect, it } from "vitest";
import { kindNames } from "../../../wire/schema.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type IncludeObject, parseInclude, printerOf, type TableOptions, tableOf } from "./table.ts";

const nowSeconds = 1_704_067_200; // 2024-01-01T00:00:00Z
const options: TableOptions = { apiVersion: "meta.svc.io/v1", include: "None", nowSeconds, headers: true };
const metadata = { name: "a", creationTimestamp: "2023-12-31T23:59:55Z" };

const cellsOf = (object: JsonObject): Json =>
  (tableOf(object, options)["rows"] as unknown as { cells: Json }[])[0]?.cells ?? null;
const columnsOf = (kind: string): readonly string[] =>
  printerOf(kind).columns.map(({ name, priority }) => (priority === 0 ? name : `${name}+`));

describe("tables", () => {
  const configMap = {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { ...metadata, resourceVersion: "7" },
    data: { k: "v" },
  };

  it("hold a row for an object, and its version", () => {
    expect(tableOf(configMap, { ...options, include: "Metadata" })).toMatchObject({
      kind: "Table",
      apiVersion: "meta.svc.io/v1",
      metadata: { resourceVersion: "7" },
      columnDefinitions: [
        { name: "Name", type: "string", format: "name", priority: 0, description: expect.any(String) as string },
        { name: "Data", type: "string", format: "", priority: 0 },
        { name: "Age", type: "string", format: "", priority: 0 },
      ],
      rows: [{ cells: ["a", 1, "5s"], object: { kind: "PartialObjectMetadata", apiVersion: "meta.svc.io/v1" } }],
    });
  });

  it("say of a registered API who serves it, and whether", () => {
    const cells = (spec: JsonObject, conditions: readonly JsonObject[]): Json =>
      cellsOf({ kind: "APIService", apiVersion: "apiregistration.svc.io/v1", metadata, spec, status: { conditions } });
    expect(cells({}, [{ type: "Available", status: "True" }])).toEqual(["a", "Local", "True", "5s"]);
    const service = { namespace: "n", name: "s" };
    const missing = { type: "Available", status: "False", reason: "ServiceNotFound" };
    expect(cells({ service }, [missing])).toEqual(["a", "n/s", "False (ServiceNotFound)", "5s"]);
    expect(cells({}, [])).toEqual(["a", "Local", "Unknown", "5s"]);
  });

  it("hold a row for each object of a list, and the list's metadata", () => {
    const list = {
      kind: "ConfigMapList",
      apiVersion: "v1",
      metadata: { resourceVersion: "9", continue: "token", remainingItemCount: 3 },
      items: [configMap, configMap],
    };
    const table = tableOf(list, { ...options, headers: false });
    expect(table["metadata"]).toEqual(list.metadata);
    expect(table["columnDefinitions"]).toBeNull();
    expect(table["rows"]).toEqual([1, 2].map(() => ({ cells: ["a", 1, "5s"], object: null })));
    expect(tableOf({ ...list, items: [] }, options)["rows"]).toEqual([]);
  });

  it.each<[IncludeObject, Json]>([
    ["None", null],
    ["Object", configMap],
    ["Metadata", { kind: "PartialObjectMetadata", apiVersion: "meta.svc.io/v1", metadata: configMap.metadata }],
  ])("carry of the object what is asked for: %s", (include, object) => {
    expect((tableOf(configMap, { ...options, include })["rows"] as JsonObject[])[0]?.["object"]).toEqual(object);
  });

  it("know four words for it, and refuse others", () => {
    expect(["", undefined, "None", "Object"].map(parseInclude)).toEqual(["Metadata", "Metadata", "None", "Object"]);
    expect(() => parseInclude("none")).toThrow('includeObject: Invalid value: "none"');
  });

  it("show name and creation of kinds without columns of their own", () => {
    expect(columnsOf("Widget")).toEqual(["Name", "Created At"]);
    expect(cellsOf({ kind: "constructor", metadata })).toEqual(["a", metadata.creationTimestamp]);
    expect(printerOf("Role").columns[1]?.type).toBe("date");
  });

  it("have a cell for every column, of every kind, even of an empty object", () => {
    for (const name of kindNames()) {
      const kind = name.slice(name.lastIndexOf("/") + 1);
      if (kind.endsWith("List")) continue;
      const { columns, row } = printerOf(kind);
      const { cells } = row({ kind, metadata: {} }, nowSeconds);
      expect(cells.length, kind).toBe(columns.length);
      for (const [at, cell] of cells.entries()) expect(cell, `${kind} ${columns[at]?.name}`).toBeDefined();
    }
  });

  it.each([
    ["Pod", ["Name", "Ready", "Status", "Restarts", "Age", "IP+", "Node+", "Nominated Node+", "Readiness Gates+"]],
    ["Deployment", ["Name", "Ready", "Up-to-date", "Available", "Age", "Containers+", "Images+", "Selector+"]],
    [
      "Node",
      [
        "Name",
        "Status",
        "Roles",
        "Age",
        "Version",
        "Internal-IP+",
        "External-IP+",
        "OS-Image+",
        "Kernel-Version+",
        "Container-Runtime+",
      ],
    ],
    ["Service", ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector+"]],
    [
      "Event",
      ["Last Seen", "Type", "Reason", "Object", "Subobject+", "Source+", "Message", "First Seen+", "Count+", "Name+"],
    ],
  ])("have the columns that people know: %s", (kind, columns) => {
    expect(columnsOf(kind)).toEqual(columns);
  });
});

describe("pods", () => {
  const state = (of: JsonObject, more: JsonObject = {}): JsonObject => ({
    name: "c",
    restartCount: 0,
    state: of,
    ...more,
  });
  const running = state({ running: {} }, { ready: true });
  const done = state({ terminated: { exitCode: 0, reason: "Completed" } });
  const pod = (status: JsonObject, more: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
    kind: "Pod",
    metadata: { ...metadata, ...more },
    spec: { containers: [{ name: "c" }], ...spec },
    status,
  });
  const shown = (object: JsonObject): string => (cellsOf(object) as Json[]).slice(1, 4).join(" ");
  const deletion = { deletionTimestamp: "2024-01-01T00:00:30Z" };

  it.each<[string, JsonObject, string]>([
    ["its phase", pod({ phase: "Pending" }), "0/1 Pending 0"],
    ["a reason of its own", pod({ phase: "Failed", reason: "Evicted" }), "0/1 Evicted 0"],
    ["running containers", pod({ phase: "Running", containerStatuses: [running] }), "1/1 Running 0"],
    [
      "what a container waits for",
      pod({ phase: "Running", containerStatuses: [state({ waiting: { reason: "CrashLoopBackOff" } })] }),
      "0/1 CrashLoopBackOff 0",
    ],
    [
      "how a container ended",
      pod({ phase: "Failed", containerStatuses: [state({ terminated: { exitCode: 3 } })] }),
      "0/1 ExitCode:3 0",
    ],
    [
      "what ended a container",
      pod({ phase: "Failed", containerStatuses: [state({ terminated: { exitCode: 0, signal: 9 } })] }),
      "0/1 Signal:9 0",
    ],
    [
      "one done of two, ready",
      pod({ phase: "Running", conditions: [{ type: "Ready", status: "True" }], containerStatuses: [done, running] }),
      "1/1 Running 0",
    ],
    ["one done of two, not ready", pod({ phase: "Running", containerStatuses: [done, running] }), "1/1 NotReady 0"],
    [
      "an init container at work",
      pod(
        { phase: "Pending", initContainerStatuses: [state({ running: {} })] },
        {},
        { initContainers: [{ name: "c" }, { name: "d" }] },
      ),
      "0/1 Init:0/2 0",
    ],
    [
      "an init container that failed",
      pod({ phase: "Pending", initContainerStatuses: [state({ terminated: { exitCode: 1 } }, { restartCount: 2 })] }),
      "0/1 Init:ExitCode:1 2",
    ],
    [
      "an init container that waits",
      pod({ phase: "Pending", initContainerStatuses: [state({ waiting: { reason: "ErrImagePull" } })] }),
      "0/1 Init:ErrImagePull 0",
    ],
    [
      "a sidecar",
      pod(
        {
          phase: "Running",
          initContainerStatuses: [state({ running: {} }, { ready: true, started: true })],
          containerStatuses: [running],
        },
        {},
        { initContainers: [{ name: "c", restartPolicy: "Always" }] },
      ),
      "2/2 Running 0",
    ],
    [
      "a gate before scheduling",
      pod({ phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] }),
      "0/1 SchedulingGated 0",
    ],
    ["its deletion", pod({ phase: "Running", containerStatuses: [running] }, deletion), "1/1 Terminating 0"],
    ["its deletion, all done", pod({ phase: "Succeeded", containerStatuses: [done] }, deletion), "0/1 Completed 0"],
    ["a lost node", pod({ phase: "Running", reason: "NodeLost" }, deletion), "0/1 Unknown 0"],
    [
      "its last restart",
      pod({
        phase: "Running",
        containerStatuses: [
          { ...running, restartCount: 4, lastState: { terminated: { finishedAt: "2023-12-31T23:57:00Z" } } },
        ],
      }),
      "1/1 Running 4 (3m ago)",
    ],
  ])("show %s", (_, object, text) => {
    expect(shown(object)).toBe(text);
  });

  it.each([
    ["Succeeded", "Succeeded"],
    ["Failed", "Failed"],
  ])("that are over say so beside their cells: %s", (phase, reason) => {
    const { row } = printerOf("Pod");
    expect(row(pod({ phase }), nowSeconds).conditions).toMatchObject([{ type: "Completed", status: "True", reason }]);
    expect(row(pod({ phase: "Running" }), nowSeconds)).not.toHaveProperty("conditions");
  });

  it("show more to those who ask for more", () => {
    const status = { phase: "Running", podIPs: [{ ip: "10.0.0.1" }], conditions: [{ type: "g/a", status: "True" }] };
    const spec = { nodeName: "n", readinessGates: [{ conditionType: "g/a" }, { conditionType: "g/b" }] };
    expect((cellsOf(pod(status, {}, spec)) as Json[]).slice(5)).toEqual(["10.0.0.1", "n", "<none>", "1/2"]);
  });
});

describe("other kinds", () => {
  it.each<[string, JsonObject, Json]>([
    [
      "nodes",
      {
        kind: "Node",
        metadata: { ...metadata, labels: { "node-role.svc.io/b": "", "svc.io/role": "a" } },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: "Ready", status: "True" }],
          addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
          nodeInfo: { kubeletVersion: "v1" },
        },
      },
      ["a", "Ready,SchedulingDisabled", "a,b", "5s", "v1", "10.0.0.1", "<none>", "<unknown>", "<unknown>", "<unknown>"],
    ],
    [
      "services",
      {
        kind: "Service",
        metadata,
        spec: {
          type: "NodePort",
          clusterIPs: ["10.0.0.9"],
          externalIPs: ["1.2.3.4"],
          ports: [
            { port: 80, nodePort: 30000, protocol: "TCP" },
            { port: 53, protocol: "UDP" },
          ],
          selector: { app: "x" },
        },
      },
      ["a", "NodePort", "10.0.0.9", "1.2.3.4", "80:30000/TCP,53/UDP", "5s", "app=x"],
    ],
    [
      "services that wait for a load balancer",
      { kind: "Service", metadata, spec: { type: "LoadBalancer" } },
      ["a", "LoadBalancer", "<none>", "<pending>", "<none>", "5s", "<none>"],
    ],
    [
      "deployments",
      {
        kind: "Deployment",
        metadata,
        spec: {
          replicas: 3,
          selector: { matchLabels: { a: "b" } },
          template: {
            spec: {
              containers: [
                { name: "c", image: "i" },
                { name: "d", image: "j" },
              ],
            },
          },
        },
        status: { readyReplicas: 2, updatedReplicas: 3 },
      },
      ["a", "2/3", 3, 0, "5s", "c,d", "i,j", "a=b"],
    ],
    [
      "jobs",
      {
        kind: "Job",
        metadata,
        spec: { completions: 3 },
        status: {
          succeeded: 3,
          startTime: "2023-12-31T23:50:00Z",
          completionTime: "2023-12-31T23:55:00Z",
          conditions: [{ type: "Complete", status: "True" }],
        },
      },
      ["a", "Complete", "3/3", "5m", "5s", "", "", "<none>"],
    ],
    [
      "cron jobs",
      {
        kind: "CronJob",
        metadata,
        spec: { schedule: "* * * * *", suspend: false },
        status: { active: [{}], lastScheduleTime: "2023-12-31T23:59:00Z" },
      },
      ["a", "* * * * *", "<none>", "False", 1, "60s", "5s", "", "", "<none>"],
    ],
    [
      "endpoints",
      {
        kind: "Endpoints",
        metadata,
        subsets: [{ addresses: [{ ip: "1.1.1.1" }, { ip: "::1" }], ports: [{ port: 1 }, { port: 2 }] }],
      },
      ["a", "1.1.1.1:1,[::1]:1,1.1.1.1:2 + 1 more...", "5s"],
    ],
    [
      "disruption budgets",
      { kind: "PodDisruptionBudget", metadata, spec: { minAvailable: 0 }, status: { disruptionsAllowed: 1 } },
      ["a", "0", "N/A", 1, "5s"],
    ],
    [
      "signing requests",
      {
        kind: "CertificateSigningRequest",
        metadata,
        spec: { signerName: "s", username: "u", expirationSeconds: 3600 },
        status: { certificate: "AA==", conditions: [{ type: "Approved" }] },
      },
      ["a", "5s", "s", "u", "60m", "Approved,Issued"],
    ],
    [
      "events",
      {
        kind: "Event",
        metadata,
        involvedObject: { kind: "Pod", name: "p" },
        type: "Normal",
        reason: "R",
        message: " m ",
        source: { component: "c", host: "h" },
        lastTimestamp: "2023-12-31T23:59:30Z",
        firstTimestamp: "2023-12-31T23:59:00Z",
        count: 2,
      },
      ["30s", "Normal", "R", "pod/p", "", "c, h", "m", "60s", 2, "a"],
    ],
    [
      "events of the other group",
      {
        kind: "Event",
        metadata,
        regarding: { kind: "Pod", name: "p" },
        type: "Normal",
        reason: "R",
        note: "n",
        reportingController: "c",
        eventTime: "2023-12-31T23:59:30.000000Z",
      },
      ["30s", "Normal", "R", "pod/p", "", "c", "n", "30s", 1, "a"],
    ],
    [
      "quotas",
      {
        kind: "ResourceQuota",
        metadata,
        status: { hard: { pods: "2", "limits.cpu": "4", cpu: "1" }, used: { pods: "1" } },
      },
      ["a", "cpu: 0/1, pods: 1/2", "limits.cpu: 0/4", "5s"],
    ],
    [
      "storage classes",
      {
        kind: "StorageClass",
        metadata: { ...metadata, annotations: { "storageclass.svc.io/is-default-class": "true" } },
        provisioner: "p",
      },
      ["a (default)", "p", "Delete", "Immediate", false, "5s"],
    ],
    [
      "bindings",
      {
        kind: "RoleBinding",
        metadata,
        roleRef: { kind: "Role", name: "r" },
        subjects: [
          { kind: "User", name: "u" },
          { kind: "ServiceAccount", name: "s", namespace: "n" },
        ],
      },
      ["a", "Role/r", "5s", "u", "", "n/s"],
    ],
    [
      "namespaces",
      { kind: "Namespace", metadata: { name: "a" }, status: { phase: "Active" } },
      ["a", "Active", "<unknown>"],
    ],
  ])("%s", (_, object, cells) => {
    expect(cellsOf(object)).toEqual(cells);
  });
});
