import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '../../api/queries.ts'
import { digestOfText } from '../../lib/hex.ts'
import { t } from '../../lib/language.ts'
import { signWithPasskey } from '../../passkey/passkey.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/form.tsx'
import { Failure } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { useWalletFlow, WalletPicker } from '../../wallet/wallet.tsx'
import { useOwnPasskeys } from './decide-dialog.tsx'
import { SignedText } from './sign-decision.tsx'

/** Confirmation of a text. Every route that takes one has the same body. */
type TextConfirmation = Schemas['ConfirmSeparation'] & Schemas['ConfirmPolicyChange']

type Props<Result> = {
  title: string
  message: string
  send: (confirmation: TextConfirmation) => Promise<Result>
  announcement: (result: Result) => string
  invalidates: readonly string[]
  /** Label of the button that confirms without a signature. Absent if a signature is required. */
  unsignedLabel?: string
  onClose: () => void
}

/** Signs a text of the service, shown whole, with a wallet or a passkey. */
export const SignText = <Result,>({ title, message, send, announcement, invalidates, unsignedLabel, onClose }: Props<Result>) => {
  const client = useQueryClient()
  const passkeys = useOwnPasskeys()
  const done = (result: Result) => {
    announce(announcement(result))
    onClose()
    for (const name of invalidates) void client.invalidateQueries({ queryKey: [name] })
  }
  const flow = useWalletFlow({
    prepare: async () => message,
    send: ({ signature, address }) => send({ signature, address }),
    done,
  })
  const byPasskey = useMutation({
    mutationFn: async () => send({ passkey: await signWithPasskey(message, passkeys) }),
    onSuccess: done,
  })
  const unsigned = useMutation({
    mutationFn: async () => {
      const shown = await digestOfText(message)
      return send({ ...(shown && { message_digest: shown }) })
    },
    onSuccess: done,
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <SignedText message={message} />
      {unsignedLabel !== undefined && (
        <Button variant="primary" busy={unsigned.isPending} onClick={() => unsigned.mutate()}>
          {unsignedLabel}
        </Button>
      )}
      {passkeys.length > 0 && (
        <Button
          variant={unsignedLabel === undefined ? 'primary' : 'secondary'}
          busy={byPasskey.isPending}
          onClick={() => byPasskey.mutate()}
        >
          {t('sign_with_passkey')}
        </Button>
      )}
      <Failure error={byPasskey.error ?? unsigned.error} />
      <WalletPicker flow={flow} label="sign_with" />
    </Dialog>
  )
}
