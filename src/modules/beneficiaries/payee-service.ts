import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { beneficiaries, payees } from '../../db/tables/beneficiaries.ts'
import { catchRefusal, Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { RailName } from '../../lib/rail-names.ts'
import type { Rails } from '../../rails/rail.ts'
import { requireBelowBound } from '../bounds.ts'
import { fingerprintText, normalisePayee } from './rules.ts'
import type { CreateBeneficiary } from './schema.ts'
import { type CreationDeps, createBeneficiary } from './service.ts'

type Candidate = { fingerprint: Buffer; id: Uuid; rail: RailName; name: string; legalName: string | null }

/** Confirmed beneficiaries come first. Within each group, the oldest come first. */
const findByDestination = prepare(
  'beneficiaries.by_destination',
  { workspaceId: 'uuid', fingerprints: 'bytea[]' },
  'pool',
  (orm, param) =>
    orm
      .select({
        fingerprint: payees.fingerprint,
        id: beneficiaries.id,
        rail: beneficiaries.paymentRail,
        name: beneficiaries.displayName,
        legalName: beneficiaries.legalName,
      })
      .from(payees)
      .innerJoin(beneficiaries, eq(beneficiaries.payeeId, payees.id))
      .where(
        and(
          eq(payees.workspaceId, param.workspaceId),
          sql`${payees.fingerprint} = any(${param.fingerprints})`,
          isNull(beneficiaries.archivedAt),
        ),
      )
      .orderBy(sql`${beneficiaries.confirmedAt} is null`, beneficiaries.id),
)

/** `names`: the display name, then the legal name if there is one. */
type EnsuredBeneficiary = { id: Uuid; isNew: boolean; names: readonly string[] }

/** A phone is one payee on every rail. `namesRail`: `payment_rail` is no default, so no other rail may pay the row. */
type RequestedPayee = CreateBeneficiary & { namesRail: boolean }
type FingerprintedRow = { row: RequestedPayee; fingerprints: string[] }

export const refusalOfDestination = (rails: Pick<Rails, 'payout'>, row: Parameters<typeof normalisePayee>[1]): Refusal | null => {
  const to = catchRefusal(() => normalisePayee(rails, row))
  return to instanceof Refusal ? to : null
}

const mayNotCreate = (): Refusal =>
  new Refusal('forbidden', {
    message:
      'There is no beneficiary with this destination and rail, and this credential may not create one: create it first, or use a credential with beneficiary.manage.',
    details: { required_permission: 'beneficiary.manage', field: 'destination' },
  })

const namesOf = (own: string, legal: string | null | undefined): string[] => [own, ...(legal ? [legal] : [])]

/** Chooses among the beneficiaries at one destination: the one with the given name, otherwise the first. */
const choose = (
  known: ReadonlyMap<string, readonly (Candidate & { index: number })[]>,
  { row, fingerprints }: FingerprintedRow,
) => {
  const own = fingerprints
    .flatMap((fingerprint) => known.get(fingerprint) ?? [])
    .filter(({ rail }) => !row.namesRail || rail === row.payment_rail)
    .sort((a, b) => a.index - b.index)
  return own.find(({ name }) => name.toLowerCase() === row.display_name.toLowerCase()) ?? own[0]
}

const destinationOf = ({ fingerprints }: FingerprintedRow): string => fingerprints.join()
const destinationAndRailOf = (named: FingerprintedRow): string => `${destinationOf(named)} ${named.row.payment_rail}`
const keyOf = (named: FingerprintedRow): string => (named.row.namesRail ? destinationAndRailOf(named) : destinationOf(named))

/** The first row of each new beneficiary creates it for the other rows with its key. */
const firstRowByKey = (rows: readonly FingerprintedRow[]): ReadonlyMap<string, FingerprintedRow> => {
  const firsts = new Map<string, FingerprintedRow>()
  for (const row of rows) {
    if (firsts.has(keyOf(row))) continue
    for (const key of [destinationOf(row), destinationAndRailOf(row)]) if (!firsts.has(key)) firsts.set(key, row)
  }
  return firsts
}

/**
 * Returns one result per row, in order: a known beneficiary, a new one (created once for all rows with its destination and rail),
 * or a refusal.
 */
export const ensureBeneficiaries = async (
  tx: Tx,
  deps: CreationDeps,
  principal: Principal,
  rows: readonly RequestedPayee[],
): Promise<(EnsuredBeneficiary | Refusal)[]> => {
  const workspaceId = principal.workspace.id
  const fingerprintedRows = rows.map((row): FingerprintedRow | Refusal => {
    const to = catchRefusal(() => normalisePayee(deps.rails, row))
    if (to instanceof Refusal) return to
    const macs = deps.derivations.macs('fingerprint', fingerprintText(workspaceId, row.payment_rail, to))
    return { row, fingerprints: macs.map(({ mac }) => mac.toString('hex')) }
  })
  const wanted = fingerprintedRows.flatMap((each) => (each instanceof Refusal ? [] : each.fingerprints))
  const fingerprints = wanted.map((each) => Buffer.from(each, 'hex'))
  const found = (await tx.run(findByDestination, { workspaceId, fingerprints })).map((row, index) => ({ ...row, index }))
  // Grouped once: comparing every row with every payee took a third of Node's time for a batch of a thousand rows.
  const known = Map.groupBy(found, ({ fingerprint }) => fingerprint.toString('hex'))
  const unknown = fingerprintedRows.flatMap((each) => (each instanceof Refusal || choose(known, each) ? [] : [each]))
  const firstRows = firstRowByKey(unknown)
  const newRows = new Set(firstRows.values())
  if (principal.permissions.has('beneficiary.manage')) await requireBelowBound(tx, 'beneficiaries', workspaceId, newRows.size)
  const created = new Map<FingerprintedRow, Promise<EnsuredBeneficiary>>()
  const ensure = async (named: FingerprintedRow): Promise<EnsuredBeneficiary | Refusal> => {
    const chosen = choose(known, named)
    if (chosen) return { id: chosen.id, isNew: false, names: namesOf(chosen.name, chosen.legalName) }
    if (!principal.permissions.has('beneficiary.manage')) return mayNotCreate()
    const first = firstRows.get(keyOf(named)) ?? named
    const names = namesOf(first.row.display_name, first.row.legal_name)
    const one =
      created.get(first) ?? createBeneficiary(tx, deps, principal, first.row).then(({ id }) => ({ id, isNew: true, names }))
    created.set(first, one)
    return one
  }
  return Promise.all(fingerprintedRows.map((each) => (each instanceof Refusal ? each : ensure(each))))
}
