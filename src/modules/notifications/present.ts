import type { StoredEvent } from '../../events/read.ts'
import type { EventType } from '../../events/types.ts'
import { isoTime } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import type { Notification } from './schema.ts'

type Decided = { decision?: { trace?: unknown } }

const withoutTrace = <Of extends Decided>(record: Of): Of => {
  if (record.decision?.trace === undefined) return record
  const { trace: _, ...decision } = record.decision
  return { ...record, decision }
}

/** An event goes to every reader, so it leaves out the decision's trace. Readers of the payment see the trace there. */
const readableData = (data: unknown): unknown => {
  if (typeof data !== 'object' || data === null) return data
  const record: Decided & { payment?: Decided | null } = withoutTrace(data)
  return record.payment ? { ...record, payment: withoutTrace(record.payment) } : record
}

export const presentNotification = (event: StoredEvent): Notification => ({
  id: formatId('event', event.id),
  type: event.type as EventType,
  created_at: isoTime(event.createdAt),
  account_id: formatId('account', event.accountId),
  workspace_id: event.workspaceId && formatId('workspace', event.workspaceId),
  data: readableData(event.data),
})

/** Streams that send the same event share its bytes. A string would be encoded once for each of a thousand streams. */
const frames = new WeakMap<StoredEvent, Buffer>()

export const frameOf = (event: StoredEvent): Buffer => {
  const known = frames.get(event)
  if (known !== undefined) return known
  const view = presentNotification(event)
  const frame = Buffer.from(`id: ${view.id}\nevent: ${view.type}\ndata: ${JSON.stringify(view)}\n\n`)
  frames.set(event, frame)
  return frame
}

/** The empty id makes the browser forget an id from which it cannot resume. */
export const resetFrame = (accountId: string, at: Date, retentionDays: number): string => {
  const data = {
    id: null,
    type: 'stream.reset',
    created_at: isoTime(at),
    account_id: formatId('account', accountId),
    workspace_id: null,
    data: {
      message: 'The events since the given one are not available: read the resources again.',
      retention_days: retentionDays,
    },
  }
  return `id:\nevent: stream.reset\ndata: ${JSON.stringify(data)}\n\n`
}
