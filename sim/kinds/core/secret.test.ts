import { expect, it } from "vitest";
import { create, endpoint } from "../../objects/objects.fixture.ts";
import { validateCreate } from "../../objects/validation.ts";

it("Settings for a registry are JSON, and a refusal does not show them", () => {
  const secrets = endpoint("v1/secrets");
  const texts = (settings: string): readonly string[] => {
    const stringData = { ".dockerconfigjson": settings };
    const secret = { metadata: { name: "s" }, type: "svc.io/dockerconfigjson", stringData };
    return validateCreate(create(secret, secrets), secrets.strategy).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  };
  expect(texts('{"auths":{}}')).toEqual([]);
  expect(texts("hunter2")).toEqual([
    "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid character 'h' looking for beginning of value",
  ]);
});

it("A key for a shell is there, and not empty", () => {
  const at = endpoint("v1/secrets");
  const causes = (data: Record<string, string>): readonly string[] =>
    validateCreate(create({ metadata: { name: "s" }, type: "svc.io/ssh-auth", data }, at), at.strategy).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  expect(causes({ "ssh-privatekey": "YQ==" })).toEqual([]);
  expect(causes({ "ssh-privatekey": "" })).toEqual(["data[ssh-privatekey]: Required value"]);
});

it("A type of another brand's name means nothing", () => {
  const at = endpoint("v1/secrets");
  const refused = (type: string): number =>
    validateCreate(create({ metadata: { name: "s" }, type, data: {} }, at), at.strategy).length;
  expect([refused("svc.io/basic-auth"), refused("kubernetes.io/basic-auth")]).toEqual([2, 0]);
});

it.each(["constructor", "toString", "__proto__"])("A type may end in %s, which means nothing", (name) => {
  const at = endpoint("v1/secrets");
  const secret = { metadata: { name: "s" }, type: `svc.io/${name}`, data: { a: "YQ==" } };
  expect(validateCreate(create(secret, at), at.strategy)).toEqual([]);
});
