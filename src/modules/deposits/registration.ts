import { equalBytes, sha256 } from '../../auth/secrets.ts'
import type { Derivations } from '../../auth/vault.ts'
import { upsertRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { depositRegistrations } from '../../db/tables/deposits.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { type DepositRail, depositRails } from '../../lib/rail-names.ts'
import { deposits } from '../../rails/definitions.ts'
import type { DepositUrls, RailCheck } from '../../rails/rail.ts'
import type { Parts } from '../parts.ts'

const purpose = 'deposit.callback'

/** The secret is derived, so it is the same in all processes. It is hexadecimal, because portals refuse certain words in URLs. */
export const depositUrls = (operatorUrl: string, derivations: Derivations, rail: DepositRail): DepositUrls => {
  const base = `${operatorUrl}/callbacks/deposits/${derivations.mac(purpose, rail).toString('hex')}`
  return { confirmation: `${base}/confirmation`, validation: `${base}/validation` }
}

/** Accepts a secret under any key of the ring. Compares in constant time. */
export const railOfSecret = (derivations: Derivations, secret: string): DepositRail | undefined => {
  const given = sha256(secret)
  return depositRails.filter((rail) =>
    derivations.macs(purpose, rail).some(({ mac }) => equalBytes(sha256(mac.toString('hex')), given)),
  )[0]
}

type Reading = Pick<Parts, 'config' | 'db' | 'derivations'>

const addressHashOf = ({ config, derivations }: Reading, rail: DepositRail): Buffer => {
  const { confirmation, validation } = depositUrls(config.operatorUrl, derivations, rail)
  return sha256(`${confirmation} ${validation}`)
}

const findRegistration = selectRow('deposit_registrations.by_rail', depositRegistrations, ['rail'])

/** `problem`: what the provider did not register. `step`: what a person must still do there. */
type Registered = { problem: string | null; step: string | null }

/** Registers the callback URLs. URLs that the provider kept count as ours unless others were registered before. */
export const registerDeposits = async (deps: Parts, rail: DepositRail): Promise<Registered> => {
  const failed = (problem: string): Registered => ({ problem, step: null })
  const adapter = deps.rails.deposits[rail]
  if (!adapter) return failed(`deposits by ${rail} are switched off`)
  const urls = depositUrls(deps.config.operatorUrl, deps.derivations, rail)
  const answer = adapter.register && (await adapter.register(urls))
  if (answer?.urls === 'failed') return failed(`the provider did not take the addresses: ${answer.problem}`)
  const registration = await findRegistration(deps.db, { rail })
  const addressHash = addressHashOf(deps, rail)
  const kept = answer?.urls === 'kept' ? `the provider did not replace the addresses that it has ("${answer.said}")` : null
  if (kept !== null && registration && !registration.addressHash.equals(addressHash))
    return failed(`${kept}, which belong to an earlier OPERATOR_URL or TOKEN_SECRETS: have them deleted, then run this again`)
  const row = { rail, addressHash, registeredAt: deps.clock.now() }
  const key = [depositRegistrations.rail]
  await upsertRow(deps.db, depositRegistrations, row, { key, replaced: ['addressHash', 'registeredAt'] })
  if (!answer) return { problem: null, step: `enter this address at the provider: ${urls.confirmation}` }
  const step = kept !== null && !registration ? `${kept}: pay in a small amount to confirm that they are ours` : null
  return { problem: answer.problem, step }
}

const againAfterSeconds = 3_600

/** Registers at the emulator hourly, because it may be new. For providers, an operator runs `npm run admin -- rails register`. */
export const registerAtEmulator = async (deps: Parts): Promise<void> => {
  for (const rail of depositRails) {
    if (!deps.rails.deposits[rail]?.isEmulator) continue
    const registration = await findRegistration(deps.db, { rail })
    const isCurrent = registration?.addressHash.equals(addressHashOf(deps, rail))
    const isRecent = registration && registration.registeredAt > secondsAfter(deps.clock.now(), -againAfterSeconds)
    if (!isCurrent || !isRecent) await registerDeposits(deps, rail)
  }
}

type AddressState = 'none' | 'current' | 'old'

const readAddressState = async (deps: Reading, rail: DepositRail): Promise<AddressState> => {
  const registration = await findRegistration(deps.db, { rail })
  if (!registration) return 'none'
  return registration.addressHash.equals(addressHashOf(deps, rail)) ? 'current' : 'old'
}

/** The rails whose registered address derives from another OPERATOR_URL, or from another secret than the current one. */
export const railsWithOldAddress = async (deps: Reading, rails: readonly DepositRail[]): Promise<DepositRail[]> => {
  const registered = await Promise.all(rails.map((rail) => readAddressState(deps, rail)))
  return rails.filter((_, index) => registered[index] === 'old')
}

const registrationProblems: Readonly<Record<AddressState, string | null>> = {
  none: 'no address was registered: run npm run admin -- rails register',
  old: 'OPERATOR_URL or TOKEN_SECRETS changed since they were registered: run npm run admin -- rails register',
  current: null,
}

export const checkRegistrations = (deps: Reading, rails: readonly DepositRail[]): Promise<RailCheck[]> =>
  Promise.all(
    rails.map(async (rail) => {
      const { label, refusedInAddresses } = deposits[rail]
      const word = refusedInAddresses.find((each) => deps.config.operatorUrl.toLowerCase().includes(each))
      return {
        requirement: `the provider notifies us of deposits: ${label}`,
        problem: word
          ? `OPERATOR_URL has "${word}", which the portal refuses in addresses: choose another name`
          : registrationProblems[await readAddressState(deps, rail)],
      }
    }),
  )
