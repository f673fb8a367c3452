import { presenter } from '../../http/presenter.ts'
import { formatId } from '../../lib/ids.ts'
import { presentUsage } from '../../policy/limits.ts'
import { namesCustomTypesOnly } from '../../policy/scope.ts'
import type { Usage } from '../../policy/types.ts'
import { presentCreators } from '../present-creator.ts'
import { presentPending, shownApprovers } from './pending-result.ts'
import type { PolicyRecord } from './queries.ts'
import { Policy } from './schema.ts'

const customTypes = {
  code: 'custom_payment_types' as const,
  message:
    "Initiators choose the payment type, so they can avoid this rule. To bind them, name rails or beneficiaries, or use the grant's own allow-list.",
}

/** Omits the total of a policy without a total limit, which counts none. */
const shownUsage = (
  { total_minor, ...periods }: ReturnType<typeof presentUsage>,
  { totalLimitMinor }: PolicyRecord,
): Policy['usage'] => (totalLimitMinor === null ? periods : { ...periods, total_minor })

const shown = presenter(Policy)

export const presentPolicy = (record: PolicyRecord, usage?: Usage): Policy =>
  shown(record, {
    binds: record.bindsGrantId === null ? 'all' : { grant_id: formatId('grant', record.bindsGrantId) },
    approver_ids: shownApprovers(record),
    warnings: namesCustomTypesOnly(record.paymentTypes) ? [customTypes] : [],
    status: record.archivedAt ? 'archived' : 'active',
    pending_change: presentPending(record),
    ...(usage && { usage: shownUsage(presentUsage(usage), record) }),
    ...presentCreators(record),
  })
