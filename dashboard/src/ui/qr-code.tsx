import { lazy, Suspense } from 'react'

// Few visits need one, so what draws it comes when one does.
const QrImage = lazy(async () => ({ default: (await import('./qr-image.tsx')).QrImage }))

export const QrCode = (props: { text: string; label: string }) => (
  <Suspense fallback={<span className="qr-code" aria-hidden="true" />}>
    <QrImage {...props} />
  </Suspense>
)
