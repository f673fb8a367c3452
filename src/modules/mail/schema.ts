import { z } from 'zod'
import { languages } from '../../db/tables/mail.ts'
import { RecordOut, TimeOut } from '../../http/wire.ts'

const email = z.boolean().describe('Whether to send an email to each verified address of the account.')
const approvals = { email, push: z.boolean().describe('Whether to push to the browsers that subscribed to notifications.') }
const emailOnly = { email }
const language = z.enum(languages).describe('The language of the emails.')

const meanings = {
  approvals: 'An approval waits for you. A reminder follows at half of its time.',
  lists: 'A payment batch that you requested ended with failures.',
  balance: 'The balance does not cover the scheduled payments.',
  policies: 'A policy change waits for confirmation.',
} as const

export const NotificationSettings = RecordOut('NotificationSettings', {
  approvals: z.object(approvals).describe(meanings.approvals),
  lists: z.object(emailOnly).describe(meanings.lists),
  balance: z.object(emailOnly).describe(meanings.balance),
  policies: z.object(emailOnly).describe(meanings.policies),
  language,
  delivery: z
    .enum(['smtp', 'sandbox', 'off'])
    .describe('`off`: no email is sent. `sandbox`: emails are shown on a page of the sandbox.'),
  addresses: z
    .array(
      z.object({
        email: z.string().describe('A verified address of a sign-in method.'),
        refused_at: TimeOut.nullable().describe('When the last email to the address was permanently rejected; otherwise null.'),
      }),
    )
    .describe('The addresses that receive emails.'),
})
export type NotificationSettings = z.output<typeof NotificationSettings>

export const UpdateNotificationSettings = z
  .strictObject({
    approvals: z.strictObject(approvals).partial().describe(meanings.approvals),
    lists: z.strictObject(emailOnly).partial().describe(meanings.lists),
    balance: z.strictObject(emailOnly).partial().describe(meanings.balance),
    policies: z.strictObject(emailOnly).partial().describe(meanings.policies),
    language,
  })
  .partial()
  .meta({ id: 'UpdateNotificationSettings' })
export type UpdateNotificationSettings = z.output<typeof UpdateNotificationSettings>
