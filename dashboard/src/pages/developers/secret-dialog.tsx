import { type Answer, api } from '../../api/queries.ts'
import { Button, CodeBlock, Secret } from '../../ui/button.tsx'
import { Dialog, useChange } from '../../ui/form.tsx'
import { Failure, TextNotice } from '../../ui/page.tsx'

type MadeKey = Answer<'/v1/accounts/me/api-keys', 'post'>

/** The key is shown here and never again. Where the first answer was lost, the key in it is replaced: no one knows it. */
export const SecretDialog = ({ title, made, onClose }: { title: string; made: MadeKey; onClose: () => void }) => {
  // Another key with the same limits; the one that nobody has seen stops at once.
  const again = useChange(
    (keyed, { id }: MadeKey): Promise<MadeKey> =>
      api.POST('/v1/accounts/me/api-keys/{id}/rotate', { path: { id }, ...keyed({ overlap_seconds: 0 }, id) }),
    { outdates: ['api-keys'] },
  )
  const current = again.data ?? made
  const { key } = current
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        key === undefined ? (
          <Button variant="primary" busy={again.isPending} onClick={() => again.mutate(current)}>
            Revoke it and make another
          </Button>
        ) : (
          <Button variant="primary" onClick={onClose}>
            I’ve saved it
          </Button>
        )
      }
      wide
    >
      {key === undefined ? (
        <TextNotice tone="warn" title="The key was made, and its answer did not arrive" live>
          A key is shown only once, so this one can’t be shown any more. No one has seen it.
        </TextNotice>
      ) : (
        <>
          <TextNotice tone="warn" title="Copy it now">
            It is shown only once. We store a hash of it and can’t show it again.
          </TextNotice>
          <Secret value={key} label="API key" />
          <CodeBlock
            label="A first request"
            code={`export API_KEY=…\ncurl ${location.origin}/v1/accounts/me \\\n  -H "Authorization: Bearer $API_KEY"`}
          />
        </>
      )}
      <Failure error={again.error} />
    </Dialog>
  )
}
