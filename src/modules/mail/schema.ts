import { z } from 'zod'
import { languages } from '../../db/tables/mail.ts'
import { RecordOut, TimeOut } from '../../http/wire.ts'

const email = z.boolean().describe('By e-mail, to each verified address of the account.')
const approvals = { email, push: z.boolean().describe('To the browsers that asked for notifications.') }
const mailed = { email }
const language = z.enum(languages).describe('In which language mails are written.')

const described = {
  approvals: 'An approval waits for you, and still waits at half of its time.',
  lists: 'A payment batch that you asked for has ended with failures.',
  balance: 'Money is short for what is scheduled.',
  policies: 'A change of a policy waits to be confirmed.',
} as const

export const NotificationSettings = RecordOut('NotificationSettings', {
  approvals: z.object(approvals).describe(described.approvals),
  lists: z.object(mailed).describe(described.lists),
  balance: z.object(mailed).describe(described.balance),
  policies: z.object(mailed).describe(described.policies),
  language,
  delivery: z
    .enum(['smtp', 'sandbox', 'off'])
    .describe('`off`: this deployment sends no mail. `sandbox`: mails are shown on a page of the sandbox.'),
  addresses: z
    .array(
      z.object({
        email: z.string().describe('A verified address of a sign-in method.'),
        refused_at: TimeOut.nullable().describe('When the last mail to it was refused for good.'),
      }),
    )
    .describe('The addresses that are mailed.'),
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
