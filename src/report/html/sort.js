// Tables can be sorted by their columns: by the numbers behind the cells, or by text.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        const number = parseFloat(cell.dataset.value ?? cell.textContent);
        return Number.isNaN(number) ? cell.textContent : number;
      };
      const before = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (typeof x === typeof y) return x < y ? -1 : x > y ? 1 : 0;
        return typeof x === "number" ? -1 : 1;
      };
      const rows = [...body.rows].sort((a, b) => (down ? before(b, a) : before(a, b)));
      body.append(...rows);
    });
  });
}
