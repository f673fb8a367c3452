import type { RequestOrigin } from '../../auth/principal.ts'
import { providerTitles } from '../../auth/providers.ts'
import type { Tx } from '../../db/client.ts'
import type { identities } from '../../db/tables/accounts.ts'
import type { passkeys } from '../../db/tables/passkeys.ts'
import { isoTime } from '../../lib/clock.ts'
import { deviceName } from '../../lib/device-name.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { quoted } from '../../lib/text.ts'
import { queueMail } from '../mail/service.ts'

// Mails about the first steps of a thief. They go to every verified address of the account, even if its owner acted.

type SecurityMail = {
  kind: 'new_browser' | 'new_sign_in_method' | 'new_passkey'
  accountId: Uuid
  cause: string
  values: Record<string, string | null>
}

const queueSecurityMail = (tx: Tx, { kind, accountId, cause, values }: SecurityMail): void =>
  queueMail(tx, { kind, cause, to: [accountId], workspaceId: null, path: '/account', values, times: { at: isoTime(tx.at) } })

export const mailNewBrowser = (tx: Tx, accountId: Uuid, { userAgent, ip }: RequestOrigin): void => {
  const values = { device: quoted(deviceName(userAgent)), ip }
  queueSecurityMail(tx, { kind: 'new_browser', accountId, cause: `browser/${newId()}`, values })
}

const titles = { ...providerTitles, wallet: 'Ethereum' }

type Method = Pick<typeof identities.$inferSelect, 'id' | 'accountId' | 'provider' | 'subject' | 'email'>

export const mailNewMethod = (tx: Tx, { id, accountId, provider, subject, email }: Method): void => {
  const method = `${titles[provider]} (${quoted(email ?? subject)})`
  queueSecurityMail(tx, { kind: 'new_sign_in_method', accountId, cause: `identity/${id}`, values: { method } })
}

export const mailNewPasskey = (tx: Tx, { id, accountId, name }: typeof passkeys.$inferSelect): void =>
  queueSecurityMail(tx, { kind: 'new_passkey', accountId, cause: `passkey/${id}`, values: { name: quoted(name) } })
