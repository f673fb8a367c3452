import type { OrderNames } from '../../auth/order-names.ts'
import type { Derivations, Vault } from '../../auth/vault.ts'
import type { CheckFacts } from '../../db/check.ts'
import { sealPurpose } from '../../events/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { KeyRing } from '../../lib/key-ring.ts'

type Parts = {
  config: { EVENT_RETENTION_DAYS: number; ENCRYPTION_KEYS?: KeyRing | undefined; TOKEN_SECRETS?: KeyRing | undefined }
  clock: Clock
  derivations: Derivations
  orderNames: OrderNames
  vault: Vault
}

/** What the checks need besides the data. */
export const factsOf = ({ config, clock, derivations, orderNames, vault }: Parts): CheckFacts => ({
  now: clock.now(),
  since: null,
  eventRetentionDays: config.EVENT_RETENTION_DAYS,
  encryptionKeyIds: [...(config.ENCRYPTION_KEYS?.all.keys() ?? [])],
  tokenSecretIds: [...(config.TOKEN_SECRETS?.all.keys() ?? [])],
  open: (sealed, context) => {
    try {
      return vault.open(sealed, context)
    } catch {
      return undefined
    }
  },
  fingerprints: (text) => derivations.macs('fingerprint', text).map(({ mac }) => mac),
  orderOf: (seed, generation) => orderNames.orderOf(seed, generation),
  attemptOf: (order, send) => orderNames.attemptOf(order, send),
  sealMac: (keyId, digest) => derivations.macUnder(keyId, sealPurpose, digest),
})
