import type { CheckFacts } from '../../src/db/check.ts'
import type { Db } from '../../src/db/client.ts'
import { sealPurpose } from '../../src/events/seal-chain.ts'
import { verify } from '../../src/verify/verify.ts'
import type { TestService } from './service.ts'

/** What breaks a promise about the data now; empty on sound data. `promise: subject`, a line each. */
export const findBreaches = async (
  service: TestService,
  db: Db = service.deps.db,
  more: Partial<CheckFacts> = {},
): Promise<string[]> => {
  const { config, clock } = service.deps
  const facts = {
    now: clock.now(),
    eventRetentionDays: config.EVENT_RETENTION_DAYS,
    encryptionKeyIds: [...(config.ENCRYPTION_KEYS?.all.keys() ?? [])],
    tokenSecretIds: [...(config.TOKEN_SECRETS?.all.keys() ?? [])],
    sealMac: (keyId: string, digest: string) =>
      service.deps.derivations.macs(sealPurpose, digest).find((candidate) => candidate.keyId === keyId)?.mac,
    ...more,
  }
  const found: string[] = []
  for await (const { promise, breaches } of verify(db, facts)) found.push(...breaches.map((subject) => `${promise}: ${subject}`))
  return found
}
