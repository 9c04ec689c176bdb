/**
 * What lets others check this server's tokens: the issuer's description and its public keys.
 * Source: OpenID Connect Discovery 1.0, section 4; the published server's two paths; recorded: the index lists the first.
 */
import { encodeJson } from "../../../wire/go-strings.ts";
import type { ServiceAccountTokens } from "../access/service-account-tokens.ts";
import type { Payload } from "../../contract/http-message.ts";
import type { Cancel } from "../../kernel/types.ts";
import { TextPayload } from "../encodings/payload.ts";

export const openIdPaths = ["/.well-known/openid-configuration", "/openid/v1/jwks"] as const;

/** Undefined for a path that is neither. `url` is where clients are told to go. Of the keys is told when there are some. */
export function openIdDocument(
  path: string,
  tokens: ServiceAccountTokens,
  url: string,
): ((done: (document: Payload) => void) => Cancel) | undefined {
  const { issuer, signer } = tokens.ports;
  if (path === openIdPaths[1]) {
    return (done) =>
      signer.prepare(() => done(new TextPayload(encodeJson({ keys: signer.publicKeys }), "application/jwk-set+json")));
  }
  if (path !== openIdPaths[0]) return undefined;
  const description = {
    issuer,
    jwks_uri: `${url}${openIdPaths[1]}`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [signer.algorithm],
  };
  return (done) => {
    done(new TextPayload(encodeJson(description), "application/json"));
    return () => {};
  };
}
