/** The machine that configuration files are read on. */
import { X509Certificate } from "node:crypto";
import { statSync } from "node:fs";
import { configurationRules } from "../../sim/configuration/rules.ts";
import { bareSetting, type Setting } from "../../sim/configuration/setting.ts";
import type { Profile } from "../../sim/contract/profile.ts";
import { certificateBlocks } from "./pem-files.ts";

/** `issuers` are the server's own. */
export function configurationSetting(
  { dialect }: Profile,
  anonymousFlag: boolean,
  issuers: readonly string[] = [`https://${dialect.name}.default.svc`],
): Setting {
  const bare = bareSetting(configurationRules[dialect.name], issuers);
  return {
    ...bare,
    anonymousFlag,
    fileProblem,
    certificateProblem: (pem) => bare.certificateProblem(pem) ?? unreadableCertificate(pem),
  };
}

function fileProblem(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? undefined : "must be a regular file";
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return `error loading file: ${code === "ENOENT" ? `stat ${path}: no such file or directory` : message}`;
  }
}

function unreadableCertificate(pem: string): string | undefined {
  try {
    for (const block of certificateBlocks(pem)) {
      void new X509Certificate(block);
    }
    return undefined;
  } catch (error) {
    return `a certificate cannot be read: ${(error as Error).message}`;
  }
}
