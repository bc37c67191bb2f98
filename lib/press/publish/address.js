// What an address says, in letters. Where it was cut inside a letter or holds a percent sign that means
// nothing, as mail programs and chats leave it, the browser's own function throws; such a part stays as it is.
window.decodedAddress = (text) =>
  text.replace(/(?:%[\da-f]{2})+/gi, (letters) => {
    try {
      return decodeURIComponent(letters);
    } catch {
      return letters;
    }
  });
