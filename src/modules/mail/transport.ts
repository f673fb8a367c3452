import type { Config } from '../../config.ts'
import { isLoopbackUrl } from '../../lib/loopback.ts'
import type { Rendered } from './render.ts'

/** `refused`: the server refuses the address for good. `rejected`: it refuses the mail for good. */
export type Outcome = 'sent' | 'refused' | 'rejected' | { retry: string }
export type Transport = (mail: { id: string; to: string } & Rendered) => Promise<Outcome>

/** One address: no comma, comment, group or line could make it two, or a header. */
const oneAddress = /^[^\s@"(),:;<>[\]\\]+@[^\s@"(),:;<>[\]\\]+$/

type SmtpError = { responseCode?: number; response?: string; command?: string; code?: string; message: string }

/** 5.7 is the server's policy (relaying, authentication), not a fault of the address. */
const outcomeOf = ({ responseCode = 0, response = '', command = '', code, message }: SmtpError): Outcome => {
  if (responseCode >= 500 && command === 'RCPT TO' && !/\b5\.7\.\d/.test(response)) return 'refused'
  if (responseCode >= 500 && /^(RCPT TO|DATA)$/.test(command)) return 'rejected'
  return { retry: [code, command, responseCode || message.slice(0, 80)].filter(Boolean).join(' ') }
}

/** A name without a dot is a container beside this one. */
const isNear = (host: string): boolean => isLoopbackUrl(`http://${host}`) || !/[.:]/.test(host)

export const createTransport = ({ SMTP_URL, MAIL_FROM, publicUrl }: Config): Transport => {
  if (SMTP_URL === undefined || MAIL_FROM === undefined) throw new Error('mail is sent only with SMTP_URL and MAIL_FROM')
  const url = new URL(SMTP_URL)
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const auth = url.username ? { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } : undefined
  const options = {
    host,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    ...(auth && { auth }),
    // A password and the amounts of people never cross a network in the clear.
    ...(isNear(url.hostname) ? { ignoreTLS: true } : { requireTLS: true }),
    disableFileAccess: true,
    disableUrlAccess: true,
    ...{ connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 5_000 },
  }
  const messageIds = new URL(publicUrl).hostname
  return async ({ id, to, subject, text, html }) => {
    if (!oneAddress.test(to)) return 'refused'
    const { createTransport: connect } = await import('nodemailer')
    const transporter = connect(options)
    try {
      await transporter.sendMail({
        ...{ from: MAIL_FROM, to: { name: '', address: to }, subject, text, html },
        messageId: `<${id}@${messageIds}>`,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      })
      return 'sent'
    } catch (error) {
      return outcomeOf(error as SmtpError)
    } finally {
      transporter.close()
    }
  }
}
