import { isoTime } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import type { RequestRow } from './queries.ts'
import type { LoggedRequest } from './schema.ts'

export const presentRequest = (row: RequestRow): LoggedRequest => ({
  id: formatId('request', row.id),
  at: isoTime(row.at),
  grant_id: row.grantId && formatId('grant', row.grantId),
  operation: row.operation,
  method: row.method,
  path: row.path,
  status: row.status,
  error: row.error,
  message: row.message,
  request_id: row.requestId,
  ms: row.ms,
})
