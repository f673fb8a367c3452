import type { Config } from '../../config.ts'
import { isLoopbackUrl } from '../../lib/loopback.ts'
import type { RenderedMail } from './render.ts'

/** `refused`: the server permanently refuses the address. `rejected`: the server permanently refuses the mail. */
export type Outcome = 'sent' | 'refused' | 'rejected' | { retry: string }
export type Transport = (mail: { id: string; to: string } & RenderedMail) => Promise<Outcome>

/** Matches one address. A comma, comment, group or line break could add a second address or a header. */
const oneAddress = /^[^\s@"(),:;<>[\]\\]+@[^\s@"(),:;<>[\]\\]+$/

type SmtpError = { responseCode?: number; response?: string; command?: string; code?: string; message: string }

/** A 5.7 status is a policy of the server (relaying, authentication), not a fault of the address. */
const outcomeOf = ({ responseCode = 0, response = '', command = '', code, message }: SmtpError): Outcome => {
  if (responseCode >= 500 && command === 'RCPT TO' && !/\b5\.7\.\d/.test(response)) return 'refused'
  if (responseCode >= 500 && /^(RCPT TO|DATA)$/.test(command)) return 'rejected'
  return { retry: [code, command, responseCode || message.slice(0, 80)].filter(Boolean).join(' ') }
}

/** Whether the host is this machine or a container beside it. A container's name has no dot. */
const isLocalHost = (host: string): boolean => isLoopbackUrl(`http://${host}`) || !/[.:]/.test(host)

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
    // Passwords and people's amounts never cross a network unencrypted.
    ...(isLocalHost(url.hostname) ? { ignoreTLS: true } : { requireTLS: true }),
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    dnsTimeout: 5_000,
  }
  const messageIds = new URL(publicUrl).hostname
  return async ({ id, to, subject, text, html }) => {
    if (!oneAddress.test(to)) return 'refused'
    const { createTransport: connect } = await import('nodemailer')
    const transporter = connect(options)
    try {
      await transporter.sendMail({
        from: MAIL_FROM,
        to: { name: '', address: to },
        subject,
        text,
        html,
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
