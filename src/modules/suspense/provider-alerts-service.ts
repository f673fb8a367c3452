import type { Tx } from '../../db/client.ts'
import { insertRows, updateRow } from '../../db/prepare-write.ts'
import { selectByStatus, selectRow } from '../../db/select-rows.ts'
import { providerAlerts } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import { presenter } from '../../http/presenter.ts'
import { conflict, found } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { receiptKey } from '../../lib/text.ts'
import { safeCode } from '../../rails/text.ts'
import { alertAfterCommit } from '../alerts.ts'
import { nameOfOperator, type Operator } from '../operators.ts'
import { ProviderAlert, presentSubject } from './schema.ts'

export type ProviderAlertRecord = typeof providerAlerts.$inferSelect

type AlertReport = Pick<ProviderAlertRecord, 'rail' | 'subjectKind' | 'subjectId' | 'word'> &
  Partial<Pick<ProviderAlertRecord, 'receipt' | 'amountMinor' | 'deliveryId'>>

/** Records a question for the provider and books nothing. A person is alerted once, however often the provider repeats it. */
export const raiseProviderAlert = async (tx: Tx, report: AlertReport): Promise<void> => {
  const { rail, subjectKind, subjectId, receipt = null, amountMinor = null } = report
  const word = safeCode(report.word).slice(0, 40)
  const fingerprint = [rail, subjectId, word, receiptKey(receipt ?? ''), amountMinor ?? ''].join(':')
  const row = { ...report, id: newId(), word, fingerprint, createdAt: tx.at }
  const inserted = await insertRows<typeof providerAlerts, { id: Uuid }>(
    tx,
    providerAlerts,
    [row],
    'on conflict (fingerprint) do nothing returning t.id',
  )
  if (inserted.length > 0) alertAfterCommit(tx, 'provider_word', { subject: subjectKind, id: subjectId, code: word })
}

export const listProviderAlerts = selectByStatus('provider_alerts.list', providerAlerts, (orm) =>
  orm.select().from(providerAlerts),
)

const shown = presenter(ProviderAlert)

export const presentProviderAlert = (alert: ProviderAlertRecord): ProviderAlert =>
  shown(alert, { ...presentSubject(alert), provider_receipt: alert.receipt })

const lock = selectRow('provider_alerts.lock', providerAlerts, ['id'], { lock: 'update' })

/** Records the provider's answer. Moves no money. */
export const resolveProviderAlert = async (
  tx: Tx,
  operator: Operator,
  id: Uuid,
  { note }: { note: string },
): Promise<ProviderAlertRecord> => {
  const alert = found(await lock(tx, { id }))
  if (alert.resolvedAt !== null) throw conflict('This alert is already resolved.', 'decided', { id: formatId('alert', id) })
  audit(tx, operator, 'admin.resolve_provider_alert', { subject: id, after: { note } })
  return updateRow(tx, providerAlerts, alert, { note, resolvedBy: nameOfOperator(operator), resolvedAt: tx.at })
}
