import type { Derivations, Vault } from '../../auth/vault.ts'
import type { AtCommitWrite, Tx } from '../../db/client.ts'
import { insertRows } from '../../db/prepare-write.ts'
import { mails } from '../../db/tables/mail.ts'
import { wakeAfterCommit } from '../../jobs/jobs.ts'
import type { Fact } from '../../lib/approval-facts.ts'
import { emailKey } from '../../lib/email-key.ts'
import { newId, type Uuid } from '../../lib/ids.ts'

/** The setting that switches off each kind of mail. Null: the kind cannot be switched off. The texts are in `texts/`. */
export const mailKinds = {
  approval_waits: 'approvals',
  approval_still_waits: 'approvals',
  batch_failures: 'lists',
  balance_short: 'balance',
  policy_change_waits: 'policies',
  new_browser: null,
  new_sign_in_method: null,
  new_passkey: null,
  new_key: null,
  new_approver: null,
  invitation: null,
} as const
export type MailKind = keyof typeof mailKinds

/** Values for a mail's text. The caller quotes names. A sentence whose value is null is left out. */
export type MailContent = {
  values: Readonly<Record<string, string | null>>
  /** RFC 3339 times. The mail shows them in the workspace's time zone and the reader's language. */
  times?: Readonly<Record<string, string>>
  /** The time zone of the workspace, or of the account's personal one if there is none. It is read when the mail is addressed. */
  zone?: string
  /** The path of the mail's only link. */
  path: string
  facts?: { all: readonly Fact[]; of: number; currency: string }
  /** Set until the mail is addressed: the recipients, or all who may decide in the workspace, except `except`. */
  to?: readonly Uuid[] | 'deciders'
  except?: Uuid | null
  /** Set until the mail is addressed: the actor, and its key or agent (`label`). Their names are read at that time. */
  by?: { accountId: Uuid; label: string | null }
}

type MailSubject = { kind: 'approval' | 'invitation' | 'payment_batch' | 'policy'; id: Uuid }
type MailRequest = MailContent & { kind: MailKind; cause: string; workspaceId: Uuid | null; about?: MailSubject }
export type MailRow = typeof mails.$inferSelect

const written: AtCommitWrite<MailRow> = { write: (tx, rows) => insertRows(tx, mails, rows, 'on conflict (cause) do nothing') }

const rowOf = (tx: Tx, { kind, cause, workspaceId, about, ...content }: MailRequest): MailRow => ({
  id: newId(),
  accountId: null,
  workspaceId,
  cause,
  kind,
  subjectKind: about?.kind ?? null,
  subjectId: about?.id ?? null,
  addressCiphertext: null,
  addressKeyId: null,
  language: 'en',
  content,
  state: 'due',
  dueAt: tx.at,
  tries: 0,
  createdAt: tx.at,
  endedAt: null,
})

/** Called in the transaction of the cause. Each recipient gets one mail after the commit. */
export const queueMail = (tx: Tx, request: MailRequest & { to: NonNullable<MailContent['to']> }): void => {
  tx.writeAtCommit(written, [rowOf(tx, request)])
  wakeAfterCommit(tx, 'mails')
}

export const mailContext = (id: Uuid): readonly string[] => ['mail', id]

type Keys = { vault: Vault; derivations: Derivations }
type Recipient = { accountId: Uuid | null; email: string; language: MailRow['language']; secret?: string }

/** `secret`: sealed and removed together with the address. */
export const addressMail = ({ vault, derivations }: Keys, row: MailRow, { email, secret, ...recipient }: Recipient): MailRow => {
  const id = newId()
  const sealed = vault.seal(JSON.stringify([email, secret ?? null]), mailContext(id))
  const address = derivations.mac('mail', emailKey(email)).toString('base64url').slice(0, 22)
  const cause = `${row.cause}/${recipient.accountId ?? ''}/${address}`
  return { ...row, ...recipient, id, cause, addressCiphertext: sealed.ciphertext, addressKeyId: sealed.keyId }
}

/** Queues a mail to an address that may belong to no account. */
export const queueMailTo = (tx: Tx, deps: Keys, request: MailRequest, recipient: Recipient): void => {
  tx.writeAtCommit(written, [addressMail(deps, rowOf(tx, request), recipient)])
  wakeAfterCommit(tx, 'mails')
}
