// A browser that finds no mathematical font leaves subscripts on the line: where it does, the style sheet lowers them.
document.addEventListener("DOMContentLoaded", () => {
  const probe = document.createElement("p");
  probe.innerHTML = "<math><msub><mi>c</mi><mi>c</mi></msub></math>";
  document.body.append(probe);
  const [letter, below] = [...probe.querySelectorAll("mi")].map((one) => one.getBoundingClientRect().bottom);
  document.documentElement.classList.toggle("low-subscripts", below - letter < 1);
  probe.remove();
});
