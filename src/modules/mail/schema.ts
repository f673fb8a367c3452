import { z } from 'zod'
import { languages } from '../../db/tables/mail.ts'
import { RecordOut, TimeOut } from '../../http/wire.ts'

const email = z.boolean().describe('Whether to send an email to each verified address of the account.')
const approvals = { email, push: z.boolean().describe('Whether to push to the browsers that subscribed to notifications.') }
const mailed = { email }
const language = z.enum(languages).describe('The language of the emails.')

const described = {
  approvals: 'An approval waits for you. A reminder follows at half of its time.',
  lists: 'A payment batch that you requested ended with failures.',
  balance: 'The balance does not cover the scheduled payments.',
  policies: 'A policy change waits for confirmation.',
} as const

export const NotificationSettings = RecordOut('NotificationSettings', {
  approvals: z.object(approvals).describe(described.approvals),
  lists: z.object(mailed).describe(described.lists),
  balance: z.object(mailed).describe(described.balance),
  policies: z.object(mailed).describe(described.policies),
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
    approvals: z.strictObject(approvals).partial().describe(described.approvals),
    lists: z.strictObject(mailed).partial().describe(described.lists),
    balance: z.strictObject(mailed).partial().describe(described.balance),
    policies: z.strictObject(mailed).partial().describe(described.policies),
    language,
  })
  .partial()
  .meta({ id: 'UpdateNotificationSettings' })
export type UpdateNotificationSettings = z.output<typeof UpdateNotificationSettings>
