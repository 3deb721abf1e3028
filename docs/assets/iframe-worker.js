// Browsers start no worker for a page that was opened from the disk: there the search runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      const load = address => new Promise((resolve, reject) => {
        const script = inside.document.createElement("script")
        script.src = address
        script.onload = resolve
        script.onerror = reject
        inside.document.head.append(script)
      })
      inside.importScripts = (...addresses) => Promise.all(addresses.map(load))
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      inside.__search = window.__search
      this.ready = load(new URL(url, location.href).href)
    }

    postMessage(data) {
      const inside = this.frame.contentWindow
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
