import { Button } from '../../ui/button.tsx'
import { CodeBlock, Secret } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/layout.tsx'

/** The key is shown here and never again. */
export const SecretDialog = ({ title, value, onClose }: { title: string; value: string; onClose: () => void }) => (
  <Dialog
    title={title}
    onClose={onClose}
    footer={
      <Button variant="primary" onClick={onClose}>
        I’ve saved it
      </Button>
    }
    wide
  >
    <Notice tone="warn" title="Copy it now">
      <p className="quiet">It is shown only once. We store a hash of it and can’t show it again.</p>
    </Notice>
    <Secret value={value} label="API key" />
    <CodeBlock
      label="A first request"
      code={`export API_KEY=…\ncurl ${location.origin}/v1/accounts/me \\\n  -H "Authorization: Bearer $API_KEY"`}
    />
  </Dialog>
)
