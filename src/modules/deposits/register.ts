import { sha256 } from '../../auth/secrets.ts'
import type { Derivations } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/client.ts'
import { prepareUpsert } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { depositRegistrations } from '../../db/tables/deposits.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { type DepositRail, depositRails } from '../../lib/rail-names.ts'
import { deposits } from '../../rails/definitions.ts'
import type { DepositUrls, RailCheck } from '../../rails/rail.ts'
import type { Parts } from '../parts.ts'
import { depositUrls } from './receive.ts'

const keep = prepareUpsert('deposit_registrations.keep', depositRegistrations, depositRegistrations.rail, [
  'addressHash',
  'registeredAt',
])

const hashOf = ({ confirmation, validation }: DepositUrls): Buffer => sha256(`${confirmation} ${validation}`)

/** Tells a provider our addresses; the sentence says what came of it. Null when the provider took them. */
export const registerDeposits = async (deps: Parts, rail: DepositRail): Promise<string | null> => {
  const adapter = deps.rails.deposits[rail]
  if (!adapter) return `deposits by ${rail} are switched off`
  const urls = depositUrls(deps.config.operatorUrl, deps.derivations, rail)
  const answer = adapter.register && (await adapter.register(urls))
  if (answer && answer.kind !== 'accepted') return `the provider did not take the addresses: ${answer.message}`
  await keep(deps.db, { rail, addressHash: hashOf(urls), registeredAt: deps.clock.now() })
  return answer ? null : `enter this address at the provider: ${urls.confirmation}`
}

const findRegistration = selectRow('deposit_registrations.by_rail', depositRegistrations, ['rail'])

const againAfterSeconds = 3_600

/** The emulator is told every hour, as it may be new. A real provider is told once, by `npm run admin -- rails register`. */
export const registerAtEmulator = async (deps: Parts): Promise<void> => {
  for (const rail of depositRails) {
    if (!deps.rails.deposits[rail]?.registersItself) continue
    const told = await findRegistration(deps.db, { rail })
    const urls = depositUrls(deps.config.operatorUrl, deps.derivations, rail)
    const isCurrent =
      told?.addressHash.equals(hashOf(urls)) && told.registeredAt > secondsAfter(deps.clock.now(), -againAfterSeconds)
    if (!isCurrent) await registerDeposits(deps, rail)
  }
}

const portalForbids = /exe|cmd|sql|query|m-?pesa|safaricom/i

/** Whether each provider that takes deposits was told the addresses that this configuration has now. */
export const checkRegistrations = async (
  db: Db,
  config: Config,
  derivations: Derivations,
  rails: readonly DepositRail[],
): Promise<RailCheck[]> =>
  Promise.all(
    rails.map(async (rail): Promise<RailCheck> => {
      const requirement = `deposits are told to us: ${deposits[rail].label}`
      const urls = depositUrls(config.operatorUrl, derivations, rail)
      const told = await findRegistration(db, { rail })
      const command = 'run npm run admin -- rails register'
      if (portalForbids.test(config.operatorUrl))
        return { requirement, problem: 'OPERATOR_URL has a word that the portal refuses in addresses: choose another name' }
      if (!told) return { requirement, problem: `no address was registered: ${command}` }
      if (!told.addressHash.equals(hashOf(urls)))
        return { requirement, problem: `OPERATOR_URL or TOKEN_SECRETS changed since they were registered: ${command}` }
      return { requirement, problem: null }
    }),
  )
