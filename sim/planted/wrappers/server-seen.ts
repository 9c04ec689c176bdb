/** What planted bugs at the edge see of a server that knows nothing of them. */
import { cborMediaType, yamlMediaType } from "../../../wire/media-types.ts";
import type { Encoders, Format } from "../../apiserver/encodings/encode.ts";
import type { ResourcePlace, Router } from "../../apiserver/requests/route.ts";
import { ApiError } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Process } from "../../kernel/types.ts";
import { seal } from "../../objects/seal.ts";
import { withResourceVersion } from "../../objects/system-fields.ts";
import type { KeyValue, Store } from "../../store/types.ts";
import type { ServerSeen } from "./misreading.ts";

export interface ServerParts {
  readonly profile: Profile;
  readonly router: Router;
  readonly store: Store;
  readonly process: Process;
  readonly encoders: Encoders;
  readonly keyOf: (place: ResourcePlace) => string;
}

export function serverSeen({ profile, router, store, process, encoders, keyOf }: ServerParts): ServerSeen {
  const placeOf: ServerSeen["placeOf"] = (path) => {
    try {
      return router.resolve(path);
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  };
  const held = (path: string): KeyValue | undefined => {
    const place = placeOf(path);
    if (place?.is !== "resource" || place.place.name === "") return undefined;
    const found = store.get(keyOf(place.place));
    return typeof found === "object" ? found : undefined;
  };
  return {
    profile,
    placeOf,
    stored: (path) => held(path)?.value as JsonObject | undefined,
    touch(path) {
      const found = held(path);
      if (found === undefined) return;
      const { key, modRevision, value } = found;
      const revision = store.put(key, modRevision, (made) =>
        seal(withResourceVersion(value as JsonObject, String(made))),
      );
      process.trace("write", key, revision, "");
    },
    encode: (contentType) => encoders.of(formatOf(contentType, profile.dialect.protobufMediaType)),
  };
}

function formatOf(contentType: string, protobuf: string): Format {
  if (contentType === yamlMediaType) return "yaml";
  if (contentType === cborMediaType) return "cbor";
  return contentType === protobuf ? "protobuf" : "json";
}
