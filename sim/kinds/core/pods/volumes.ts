/**
 * Volumes of a pod. Source: the published validation of volumes.
 * Simplification: of the sources that drivers serve, only what must be there is judged.
 */
import { dns1123SubdomainErrors } from "../../../../wire/names.ts";
import { parseQuantity } from "../../../../wire/quantity.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { isObject } from "../../../contract/objects.ts";
import type { Place, Rule } from "../../../objects/place.ts";
import {
  all,
  always,
  anyText,
  atMostLength,
  between,
  called,
  caseOf,
  eachUnnumbered,
  fields,
  format,
  oneMember,
  oneOf,
  present,
  required,
  struct,
  type Table,
  textThat,
} from "../../../objects/rules.ts";
import { label } from "../../shared/formats.ts";
import { claimTemplate } from "../volume-claim-spec.ts";
import { descending, noWayBack } from "./paths.ts";
import { downwardItem, files, mode, projected } from "./projections.ts";
import { scopeOf } from "./scope.ts";

/** A source must say `names`. */
const source = (names: readonly string[] = [], more: Table = {}): Rule => struct(fields(names, required()), more);

const notNegative = (amount: Json, at: Place): void => {
  const quantity = parseQuantity(String(amount));
  if ("error" in quantity || quantity.digits >= 0n) return;
  at.forbidden("SizeLimit field must be a valid resource quantity");
};

const hostPathTypes = oneOf([
  ...["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"],
]);

const partition = between(0, 255, "must be between 1 and 255, inclusive");

const driver = all(
  required(anyText),
  atMostLength(63),
  format((name) => dns1123SubdomainErrors(name.toLowerCase())),
);

/** The claim is named after the pod and the volume. */
function madeClaim(_source: JsonObject, at: Place): void {
  const { pod = "", volumeName } = scopeOf(at);
  if (pod === "" || volumeName === "") return;
  const claim = `${pod}-${volumeName}`;
  for (const text of dns1123SubdomainErrors(claim)) {
    at.above()
      .of("name")
      .invalid(volumeName, `PVC name ${JSON.stringify(claim)}: ${text}`);
  }
}

/** In the order in which sources are looked at. */
const sources: Readonly<Record<string, Rule>> = {
  emptyDir: source([], { sizeLimit: notNegative }),
  hostPath: struct(
    { path: required(noWayBack) },
    caseOf("path", { "": {} }, { type: always(hostPathTypes) }), // without a path nothing more is asked
  ),
  gitRepo: source(["repository"], { directory: descending }),
  gcePersistentDisk: called("persistentDisk", source(["pdName"], { partition })),
  awsElasticBlockStore: source(["volumeID"], { partition }),
  secret: source(["secretName"], files),
  nfs: source(["server", "path"], {
    path: always(textThat((path) => path.startsWith("/"), "must be an absolute path")),
  }),
  iscsi: source(["targetPortal", "iqn"]),
  glusterfs: source(["endpoints", "path"]),
  flocker: source(),
  persistentVolumeClaim: source(["claimName"]),
  rbd: source(["monitors", "image"]),
  cinder: source(["volumeID"]),
  cephfs: source(["monitors"]),
  quobyte: source(["registry", "volume"]),
  downwardAPI: source([], { defaultMode: mode, items: called("", eachUnnumbered(downwardItem)) }),
  fc: source(),
  flexVolume: source(["driver"]),
  configMap: source(["name"], files),
  azureFile: source(["secretName", "shareName"]),
  vsphereVolume: source(["volumePath"]),
  photonPersistentDisk: source(["pdID"]),
  portworxVolume: source(["volumeID"]),
  azureDisk: source(["diskName", "diskURI"]),
  storageos: source(),
  projected,
  scaleIO: source(["gateway", "system", "volumeName"]),
  csi: source([], { driver: { ...driver, absent: "" }, nodePublishSecretRef: source(["name"]) }),
  ephemeral: struct({ volumeClaimTemplate: present(claimTemplate) }, madeClaim),
  image: source(),
};

const oneSource = oneMember(
  sources,
  { none: "must specify a volume type", more: "may not specify more than 1 volume type" },
  { cephfs: "cephFS", downwardAPI: "downwarAPI" },
);

const volumeName = required(label);

/** Those that are right may be mounted. */
export function volumes(list: readonly JsonObject[], at: Place): void {
  const scope = scopeOf(at);
  const named = new Map<string, JsonObject>();
  const made = claimsMade(list, scope.pod ?? "");
  at.eachItem(list, (volume: JsonObject) => {
    const countBefore = at.causes.length;
    const name = (volume["name"] ?? "") as string;
    scope.volumeName = name;
    oneSource(volume as never, at);
    at.judge("name", name, volumeName);
    if (named.has(name)) at.of("name").duplicate(name);
    if (at.causes.length === countBefore) named.set(name, volume);
    const claim = volume["persistentVolumeClaim"];
    if (!isObject(claim) || !made.has(claim["claimName"] as string)) return;
    const detail = "must not reference a PVC that gets created for an ephemeral volume";
    at.of("persistentVolumeClaim", "claimName").invalid(claim["claimName"], detail);
  });
  scope.volumes = named;
}

/** Names of the claims that are made for the pod. */
function claimsMade(list: readonly JsonObject[], pod: string): ReadonlySet<string> {
  const made = new Set<string>();
  if (pod === "") return made;
  for (const { name, ephemeral } of list) if (isObject(ephemeral)) made.add(`${pod}-${name as string}`);
  return made;
}
