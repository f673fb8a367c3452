import type { CheckFacts } from '../../db/check.ts'
import { sealPurpose } from '../../events/seal-tree.ts'
import type { Clock } from '../../lib/clock.ts'
import type { KeyRing } from '../../lib/key-ring.ts'

type Parts = {
  config: { EVENT_RETENTION_DAYS: number; ENCRYPTION_KEYS?: KeyRing | undefined; TOKEN_SECRETS?: KeyRing | undefined }
  clock: Clock
  derivations: { macUnder: (keyId: string, purpose: typeof sealPurpose, text: string) => Buffer | undefined }
}

/** What the checks need besides the data. */
export const factsOf = ({ config, clock, derivations }: Parts): CheckFacts => ({
  now: clock.now(),
  since: null,
  eventRetentionDays: config.EVENT_RETENTION_DAYS,
  encryptionKeyIds: [...(config.ENCRYPTION_KEYS?.all.keys() ?? [])],
  tokenSecretIds: [...(config.TOKEN_SECRETS?.all.keys() ?? [])],
  sealMac: (keyId, digest) => derivations.macUnder(keyId, sealPurpose, digest),
})
