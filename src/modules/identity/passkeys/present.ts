import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import type { PasskeyRecord } from './queries.ts'
import type { Passkey } from './schema.ts'

export const presentPasskey = ({ id, name, credentialId, createdAt, lastUsedAt }: PasskeyRecord): Passkey => ({
  id: formatId('passkey', id),
  name,
  credential_id: credentialId,
  created_at: isoTime(createdAt),
  last_used_at: isoTimeOrNull(lastUsedAt),
})
