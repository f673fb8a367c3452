import type { z } from 'zod'
import { administratorsAmong } from '../../../auth/administrators.ts'
import type { Config } from '../../../config.ts'
import type { Db } from '../../../db/client.ts'
import type { Column } from '../../../http/csv.ts'
import { presenter } from '../../../http/presenter.ts'
import { type Balance, balanceIn, getBalances } from '../../../ledger/ledger.ts'
import { isoTime } from '../../../lib/clock.ts'
import { formatId, type IdKind, type Uuid } from '../../../lib/ids.ts'
import { formatMajor } from '../../../lib/money.ts'
import { localDateTime, timeZoneAt, type Zones } from '../../../policy/calendar.ts'
import { presentFunds } from '../../workspaces/present.ts'
import { Account, type AdminAccount, HistoryEntry, type WorkspaceHistoryEntry } from '../schema.ts'
import type { AccountRecord, NamedEntry } from './queries.ts'

const capability = (enabled: boolean) => (enabled ? ('active' as const) : ('disabled' as const))

const shownAccount = presenter(Account)

export const presentAccount = (account: AccountRecord, balance: Balance): Account =>
  shownAccount(account, {
    balance: presentFunds(balance),
    capabilities: {
      topups: capability(account.topupsEnabled),
      payments: capability(account.paymentsEnabled),
      api_keys: capability(account.apiKeysEnabled),
      oauth: capability(account.oauthEnabled),
    },
  })

const referenceKinds: Readonly<Record<string, IdKind>> = {
  payment: 'payment',
  topup: 'topup',
  adjustment: 'ledger',
  suspense: 'suspense',
}

type EntryView = z.output<typeof WorkspaceHistoryEntry>

const shownEntry = presenter(HistoryEntry)

export const presentHistoryEntry = ({ entry, requested, payee }: NamedEntry): z.output<typeof HistoryEntry> =>
  shownEntry(entry, {
    idempotency_key: requested?.idempotencyKey ?? null,
    batch_id: requested?.batchId ? formatId('payment_batch', requested.batchId) : null,
    batch_index: requested?.batchIndex ?? null,
    reference: { type: entry.referenceType, id: formatId(referenceKinds[entry.referenceType] ?? 'ledger', entry.referenceId) },
    beneficiary: payee && { id: formatId('beneficiary', payee.id), display_name: payee.displayName },
    batch: payee?.batchId ? { id: formatId('payment_batch', payee.batchId), name: payee.batchName } : null,
  })

type ExportedEntry = { id: Uuid; shown: EntryView }

const plainColumn = (
  name: Exclude<keyof EntryView, 'reference' | 'beneficiary' | 'batch' | 'batch_index'>,
): Column<ExportedEntry> => [name, ({ shown }) => shown[name]]

/** Adds columns for people, with major units and local times, to the columns for programs. */
export const historyColumns = (zones: Zones, currency: string): readonly Column<ExportedEntry>[] => [
  plainColumn('id'),
  plainColumn('created_at'),
  ['created_local', ({ shown }) => localDateTime(new Date(shown.created_at), timeZoneAt(zones, new Date(shown.created_at)))],
  ['time_zone', ({ shown }) => timeZoneAt(zones, new Date(shown.created_at))],
  plainColumn('type'),
  ['amount', ({ shown }) => formatMajor(BigInt(shown.amount_minor))],
  ['held_change', ({ shown }) => formatMajor(BigInt(shown.held_change_minor))],
  ['available_after', ({ shown }) => shown.available_after_minor && formatMajor(BigInt(shown.available_after_minor))],
  ['currency', () => currency],
  plainColumn('amount_minor'),
  plainColumn('held_change_minor'),
  plainColumn('available_after_minor'),
  ['reference_type', ({ shown }) => shown.reference.type],
  ['reference_id', ({ shown }) => shown.reference.id],
  ['beneficiary_name', ({ shown }) => shown.beneficiary?.display_name ?? null],
  plainColumn('idempotency_key'),
  plainColumn('batch_id'),
  ['batch_index', ({ shown }) => shown.batch_index?.toString() ?? null],
  ['beneficiary_id', ({ shown }) => shown.beneficiary?.id ?? null],
  ['list', ({ shown }) => shown.batch?.name ?? null],
]

export const viewAccounts = async (db: Db, config: Config, records: readonly AccountRecord[]): Promise<AdminAccount[]> => {
  const ids = records.map(({ id }) => id)
  const administrators = await administratorsAmong(db, ids, config.ADMIN_ACCOUNTS)
  const balances = await getBalances(db, ids)
  return records.map((record) => ({
    ...presentAccount(record, balanceIn(balances, record.id)),
    is_admin: administrators.has(record.id),
    updated_at: isoTime(record.updatedAt),
  }))
}
