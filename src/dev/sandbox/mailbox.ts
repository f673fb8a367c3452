import type { App } from '../../http/app-type.ts'
import { escapeHtml, renderPage, sendHtml } from '../../http/page.ts'
import { Refusal } from '../../lib/errors.ts'
import { isLoopbackUrl } from '../../lib/loopback.ts'

type Mail = Readonly<Record<'subject' | 'to' | 'at' | 'language', string>> & {
  readonly paragraphs: readonly string[]
  readonly action: { readonly text: string; readonly url: string }
  readonly notes: readonly string[]
}

const mailHtml = (mail: Mail): string => `<article lang="${escapeHtml(mail.language)}">
<hr>
<h2>${escapeHtml(mail.subject)}</h2>
<p><small>To ${escapeHtml(mail.to)}, ${escapeHtml(mail.at)}</small></p>
${mail.paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n')}
<p><a class="primary" href="${escapeHtml(mail.action.url)}">${escapeHtml(mail.action.text)}</a></p>
<p><small>${mail.notes.map(escapeHtml).join('<br>')}</small></p>
</article>`

/** Shows unsent mails with working links. Only for this machine, because an invitation's link contains its token. */
export const registerMailbox = (app: App, read: () => Promise<readonly Mail[]>): void => {
  const config = { internal: true, access: 'public' as const }
  app.get('/sandbox/mail', { config, schema: { hide: true } }, async (request, reply) => {
    if (!isLoopbackUrl(`http://${request.headers.host ?? ''}`)) throw new Refusal('forbidden')
    const mails = await read()
    const page = {
      title: 'Mailbox (sandbox)',
      paragraphs: [
        'No email leaves this machine, because SMTP_URL is not set. These are the emails that people would have received, newest first.',
      ],
      links: [{ href: '/account', text: 'Notification settings' }],
    }
    return sendHtml(reply, 200, renderPage(page, mails.map(mailHtml).join('\n') || '<p>No emails yet.</p>'))
  })
}
